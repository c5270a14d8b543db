// Defines the tool restart_image, which replaces the image.

import { CallError } from '../../errors.ts';
import type { RebuildFrom, RestartableImage } from '../../image/image.ts';
import { defineTool, type ToolDescription } from '../../kernel/tool.ts';
import { type QuestionLine, questionLine } from '../../question-line.ts';
import { lossText } from '../loss-text.ts';

const REBUILD_SOURCES = ['session', 'none', 'previous'] as const satisfies readonly RebuildFrom[];

const RESTART_IMAGE = {
  name: 'restart_image',
  description:
    'Restart the Lisp process (SBCL): a clean image, with definitions, files and systems rebuilt but values lost. Use it when the heap is full or the image does not answer; rebuild: none gets rid of all definitions. To end a single call use interrupt.',
  parameters: [
    {
      name: 'rebuild',
      type: 'string',
      description: 'previous: also what the previous server had',
      enum: REBUILD_SOURCES,
    },
  ],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'dangerous',
  refusesCode: true,
  categories: ['execution'],
  shortDescription: 'End the image and start a fresh one, rebuilt from what was defined and loaded',
  complexity: 'moderate',
  keywords: [
    'reset everything',
    'fresh image',
    'clean slate',
    'restart Lisp',
    'kernel restart',
    'restart the image',
    'restart the REPL',
    'rebuild the session',
  ],
} as const satisfies ToolDescription;

/** Returns the tool that replaces IMAGE. A restart with a rebuild is cautious, because any form can cause the same by
 * (exit). A restart without a rebuild is dangerous, because definitions are lost. */
export function restartImageTool(image: RestartableImage) {
  const preview = async ({ rebuild = 'session' }: { rebuild?: RebuildFrom }) => {
    checkRestartable(image);
    const lines = previewLines(image, rebuild);
    // A rebuild from the journal of another server would add definitions that the broken image did not have, so a human
    // is asked.
    const free = rebuild !== 'previous' && (await image.isBroken());
    return { summary: LOST, lines, text: [questionLine`${LOST}.`, ...lines], fingerprint: '', free };
  };
  return defineTool({
    ...RESTART_IMAGE,
    safetyLevel: image.stake.replay ? 'cautious' : 'dangerous',
    preview,
    raisedBy: ({ rebuild }) =>
      rebuild === 'none' ? { safetyLevel: 'dangerous', allowedAs: RESTART_IMAGE.name, preview } : undefined,
    handler: async ({ rebuild = 'session' }) => {
      checkRestartable(image);
      const report = await image.restart(rebuild);
      return { data: report ?? null, text: report === undefined ? '' : lossText(report) };
    },
  });
}

function checkRestartable({ restartRefusal }: RestartableImage): void {
  if (restartRefusal !== undefined) throw new CallError(restartRefusal);
}

const LOST = questionLine`all values, threads, open files and connections of the image are lost`;

function previewLines(image: RestartableImage, rebuild: RebuildFrom): QuestionLine[] {
  const { entries, replay, values, calls } = image.stake;
  const count = entries === 1 ? questionLine`1 step` : questionLine`${entries} steps`;
  const steps = questionLine`what this session defined and loaded (${count} of its journal)`;
  const rebuildLine = {
    session: questionLine`Rebuilt: ${steps}.`,
    none: questionLine`Not rebuilt, and forgotten: ${steps}.`,
    previous: questionLine`Rebuilt: what the previous server defined and loaded, then ${steps}.`,
  }[rebuild];
  return [
    ...(calls > 0
      ? [
          calls === 1
            ? questionLine`1 running call is ended.`
            : questionLine`${calls} running calls are ended.`,
        ]
      : []),
    replay
      ? rebuildLine
      : questionLine`Nothing is rebuilt, because the server was started with --replay off.`,
    questionLine`The Lisp image is ended and a fresh one started.`,
    ...(values.length > 0 ? [valuesText(values)] : []),
  ];
}

const NAME_LIMIT = 20;

function valuesText(values: readonly string[]): QuestionLine {
  const more = values.length > NAME_LIMIT ? questionLine`, the first ${NAME_LIMIT}` : questionLine``;
  return questionLine`Variables that were set (${values.length}${more}): ${values.slice(0, NAME_LIMIT)}.`;
}
