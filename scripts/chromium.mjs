// Finds the Chromium that shows the page to tests and for pictures: the one that CHROMIUM names, Debian's, or Playwright's own.
// As a program it exits with 0 when there is one.

import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const DEBIAN = '/usr/bin/chromium';
const PLAYWRIGHT = process.env.PLAYWRIGHT_BROWSERS_PATH ?? join(homedir(), '.cache', 'ms-playwright');

/** Returns options with which Playwright starts Chromium; undefined where there is none. */
export function chromiumOptions() {
  const named = [process.env.CHROMIUM, DEBIAN].find((path) => path && existsSync(path));
  // Chromium makes no sandbox of its own for root, and in containers has little shared memory.
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  if (named !== undefined) return { executablePath: named, args };
  const installed = existsSync(PLAYWRIGHT) ? readdirSync(PLAYWRIGHT) : [];
  return installed.some((name) => name.startsWith('chromium')) ? { args } : undefined;
}

if (process.argv[1] === import.meta.filename) process.exitCode = chromiumOptions() === undefined ? 1 : 0;
