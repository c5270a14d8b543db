#!/usr/bin/env node
// Decides how the parts are wired together; the only file that knows them all.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool, helpText, toolList } from './cli.ts';
import { type Config, readConfig, searchesTree } from './config.ts';
import { messageOf, UsageError } from './errors.ts';
import { cacheFolder } from './image/agent.ts';
import { libraryManagers } from './image/libraries.ts';
import { SbclImage, type SbclOptions } from './image/sbcl-image.ts';
import { Executor } from './kernel/executor.ts';
import { ToolRegistry } from './kernel/registry.ts';
import { builtinTools } from './tools/index.ts';

/** The package's own folder: this file runs as dist/live-lisp.js. */
const HOME = join(import.meta.dirname, '..');

function imageOptions(config: Config): SbclOptions {
  return {
    sbcl: config.sbcl,
    lispFolder: join(HOME, 'lisp'),
    cacheFolder: cacheFolder(),
    root: config.root,
    heapMb: config.heapMb,
    limitMs: config.evalTimeoutMs,
    searchTree: searchesTree(config),
    startFiles: () => [
      ...(config.quicklisp
        ? libraryManagers(config.root)
            .slice(0, 1)
            .map(({ file }) => file)
        : []),
      ...(config.init === undefined ? [] : [config.init]),
    ],
  };
}

function version(): string {
  const { version } = JSON.parse(readFileSync(join(HOME, 'package.json'), 'utf8')) as { version: string };
  return version;
}

async function run(config: Config): Promise<number> {
  if (config.command === 'help') return print(helpText());
  if (config.command === 'version') return print(version());
  const image = new SbclImage(imageOptions(config));
  const registry = new ToolRegistry();
  for (const tool of builtinTools(image, config.root)) registry.register(tool);
  const executor = new Executor(registry, { takeNotices: () => image.takeNotices() });
  switch (config.command) {
    case 'tools':
      return print(toolList(registry));
    case 'call':
      return callTool(executor, registry, config.operands, print).finally(() => image.close());
    case 'doctor': {
      const { diagnose } = await import('./doctor.ts');
      return diagnose(imageOptions(config), config, print);
    }
    default: {
      const { serve } = await import('./server/stdio.ts');
      const { contractNames } = config;
      serve({
        registry,
        executor,
        contractNames,
        version: version(),
        onReady: () => image.start(),
        onEnd: () => image.close(),
      });
      return new Promise(() => {});
    }
  }
}

function print(text: string): 0 {
  process.stdout.write(`${text}\n`);
  return 0;
}

try {
  process.exitCode = await run(readConfig(process.argv.slice(2), process.env));
} catch (error) {
  process.stderr.write(`live-lisp: ${messageOf(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
