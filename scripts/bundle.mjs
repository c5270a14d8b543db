// Decides how a program is bundled; the benchmarks' floor is bundled the same way.

/** Minified: it starts faster and takes 4 MB less memory. */
const COMMON = { bundle: true, platform: 'node', target: 'node20', legalComments: 'eof', minify: true };

/** esbuild's options for a module of one file. */
export const BUNDLE = {
  ...COMMON,
  format: 'esm',
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
};

/** esbuild's options for the entry: what it imports later is a file of its own, which an old Node never reads. */
export const ENTRY_BUNDLE = {
  ...COMMON,
  format: 'esm',
  target: 'node16',
  splitting: true,
  entryNames: 'live-lisp',
  chunkNames: '[name]-[hash]',
};

/** esbuild's options for a bundle that V8 compiles as a script, since it takes kept code only for those. */
export const SCRIPT_BUNDLE = {
  ...COMMON,
  format: 'cjs',
  define: { 'import.meta.dirname': '__dirname' },
  alias: {
    // What it exports for CommonJS loads its parts by names that esbuild cannot follow.
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
    // The SDK's own loads a validator of JSON schemas, which nothing here has it use.
    '@modelcontextprotocol/server/_shims': './src/server/sdk-shims.ts',
  },
};

/** esbuild's options for the script of the page, which runs in a browser. */
export const PAGE_BUNDLE = { ...COMMON, platform: 'browser', target: 'es2024', format: 'esm' };
