#!/usr/bin/env node
// Decides what the program does: the command that its arguments ask for.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemble, HOME, imageOptions, sandboxOf } from './assembly.ts';
import { callTool, helpText, toolList } from './cli.ts';
import { type Config, readConfig } from './config.ts';
import { messageOf, UsageError } from './errors.ts';

function version(): string {
  const { version } = JSON.parse(readFileSync(join(HOME, 'package.json'), 'utf8')) as { version: string };
  return version;
}

async function run(config: Config): Promise<number> {
  if (config.command === 'help') return print(helpText());
  if (config.command === 'version') return print(version());
  const { image, registry, catalog, executor, questions } = assemble(config);
  /** Resolves when the tools that the start file registers are there, also those that were lost with an image. */
  const withStartFile = () => {
    if (config.init !== undefined) image.start();
    return image.started();
  };
  switch (config.command) {
    case 'tools':
      return print(toolList(registry));
    case 'call':
      await withStartFile();
      return callTool(executor, registry, config.operands, print).finally(() => image.close());
    case 'doctor': {
      const { diagnose } = await import('./doctor.ts');
      return diagnose(imageOptions(config), sandboxOf(config), config, print);
    }
    default: {
      const { serve } = await import('./server/stdio.ts');
      const { Approvals } = await import('./server/approvals.ts');
      if (config.sandbox !== 'off') sandboxOf(config).check().catch(complain);
      serve({
        registry,
        catalog,
        executor,
        approvals: new Approvals({ questions, session: true }),
        list: config.list,
        version: version(),
        started: withStartFile,
        onReady: () => image.start(),
        onEnd: () => image.end(),
      });
      return new Promise(() => {});
    }
  }
}

function print(text: string): 0 {
  process.stdout.write(`${text}\n`);
  return 0;
}

function complain(error: unknown): void {
  process.stderr.write(`live-lisp: ${messageOf(error)}\n`);
}

try {
  process.exitCode = await run(readConfig(process.argv.slice(2), process.env));
} catch (error) {
  complain(error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
