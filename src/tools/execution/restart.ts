// Decides the tool that replaces the image.

import type { RebuildFrom, Replaceable } from '../../image/image.ts';
import { lossText } from '../../image/recovery/loss-report.ts';
import { defineTool, keywordList, type ToolDefinition } from '../../kernel/tool.ts';

const FROM: readonly RebuildFrom[] = ['session', 'none', 'previous'];

const RESTART_IMAGE: Omit<ToolDefinition, 'handler'> = {
  name: 'restart_image',
  title: 'Restart Lisp image',
  description:
    'End the Lisp image and start a fresh one, in which definitions, packages, loaded files and systems are built again from a journal; values are lost. Calls that run are ended. Use it when the image is broken, full or has the wrong things in it.',
  parameters: [
    {
      name: 'rebuild',
      type: 'string',
      description:
        'What is built again: session (default): what this session defined and loaded; none: nothing; previous: before that also what the server before this one had, as after a crash of the client',
      enum: FROM,
    },
  ],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'dangerous',
  refusesCode: true,
  categories: ['execution'],
  shortDescription: 'End the image and start a fresh one, rebuilt from what was defined and loaded',
  complexity: 'moderate',
  keywords: keywordList(`
    restart the image, restart Lisp, restart the REPL, fresh image, reset everything, kernel restart, clean slate,
    rebuild the session, reboot, reload from scratch, start over, start from scratch, restart SBCL, restart the
    process, restart the interpreter, restart the runtime, restart kernel, Jupyter restart, restart and run all,
    kill the image, kill Lisp, quit and start again, exit and restart, respawn, relaunch, new process, new image,
    empty image, blank session, wipe the session, clear all definitions, forget everything, undo all definitions,
    reset the environment, reset state, reset session, hard reset, factory reset, broken image, corrupted image,
    hung image, frozen, stuck, wedged, unresponsive, deadlock, hangs, out of memory, memory leak, heap full, free
    all memory, release memory, recover, recovery, restore the session, get my
    definitions back, bring back what was lost, replay, replay the journal, journal, after a crash, crash
    recovery, pristine image, crashed client, previous session, resume the last session, session of before, continue where I
    left off, redo all loads, load everything again, re-evaluate all definitions, slime-restart-inferior-lisp,
    sly-restart-inferior-lisp, M-x slime-quit-lisp, restart-inferior-lisp, cider-restart, kill all threads, stop
    all background threads, stop everything, remove redefinitions, without the definitions, IRB reload!, restart
    node, nodemon rs, ipython reset, workspace clear, invalidate caches and restart, systemctl restart, supervisor`),
};

/** Returns the tool that replaces IMAGE. */
export function restartImage(image: Replaceable) {
  return defineTool({
    ...RESTART_IMAGE,
    preview: async (args) => ({ text: whatIsLost(image, fromOf(args['rebuild'])), fingerprint: '' }),
    handler: async (args) => {
      const report = await image.restart(fromOf(args['rebuild']));
      return { data: report ?? null, text: report === undefined ? '' : lossText(report) };
    },
  });
}

function fromOf(rebuild: unknown): RebuildFrom {
  return FROM.find((each) => each === rebuild) ?? 'session';
}

/** Returns what a human is shown before the image is ended. */
function whatIsLost(image: Replaceable, rebuild: RebuildFrom): string {
  const { entries, replay, values, calls } = image.stake;
  const steps = `what this session defined and loaded (${entries} ${entries === 1 ? 'step' : 'steps'} of its journal)`;
  const again = {
    session: `Built again: ${steps}.`,
    none: `Not built again, and forgotten: ${steps}.`,
    previous: `Built again: what the server before had, then ${steps}.`,
  }[rebuild];
  return [
    'The Lisp image is ended and a fresh one started.',
    replay ? again : 'Nothing is built again, because the server was started with --replay off.',
    'Lost: all values, threads, open files and connections of the image.',
    values.length > 0 &&
      `Variables that were set: ${values.slice(0, 20).join(', ')}${values.length > 20 ? ' and more' : ''}.`,
    calls > 0 && `${calls} ${calls === 1 ? 'call that runs is' : 'calls that run are'} ended.`,
  ]
    .filter((line) => line)
    .join('\n');
}
