// Decides what a human sees who is asked for an approval: some clients show four lines of the message, and a field for each
// property.

import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { Question } from '../kernel/approval.ts';
import type { AskedQuestion } from '../kernel/questions.ts';
import { extensionOf, folderOf, holdsForSession } from '../kernel/standing.ts';
import { visibleName } from '../visible.ts';
import type { PreviewFile } from './preview-files.ts';

const APPROVE = 'approve';
export const APPROVE_FOR_SESSION = 'approve for this session';
export const CHANGE = 'approve with changes';
export const DENY = 'deny';

/** Returns the form that asks QUESTION, all of whose preview is in FILE. SESSION says whether an approval can hold for one. */
export function decisionForm(
  question: Question,
  file: PreviewFile,
  session: boolean,
): ElicitRequestFormParams {
  const { tool, preview } = question;
  const offered = choices(question, session);
  const lasting = `${APPROVE_FOR_SESSION}: ${tool.name}${filesText(preview.place)} without asking again`;
  return {
    message: messageFor(question, file),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: offered.includes(APPROVE_FOR_SESSION) ? lasting : `${tool.name}, once`,
          enum: offered,
          // Who was not shown all of it has to choose.
          ...(!preview.cut && { default: APPROVE }),
        },
      },
      required: ['decision'],
    },
  };
}

/** Returns what a human can choose who is asked about TOOL and PREVIEW. What was not shown whole, and what something runs
 *  by itself, is approved one by one. */
export function choices({ preview }: Pick<AskedQuestion, 'preview'>, session: boolean): string[] {
  const lasts = session && !preview.cut && holdsForSession(preview.place);
  return [APPROVE, ...(lasts ? [APPROVE_FOR_SESSION] : []), CHANGE, DENY];
}

/** Returns the form that asks for the arguments that a human wants instead. */
export function changesForm({ tool, given }: AskedQuestion): ElicitRequestFormParams {
  return {
    message: `${tool.name} with which arguments instead? All of them, as a JSON object.`,
    requestedSchema: {
      type: 'object',
      properties: {
        arguments: {
          type: 'string',
          title: 'Arguments',
          description: 'All of them, as a JSON object',
          ...(given !== undefined && { default: given }),
        },
      },
      required: ['arguments'],
    },
  };
}

/** Returns the message of QUESTION. Its first lines carry the decision, none is empty, and FILE has the rest. */
function messageFor({ tool, preview }: Question, file: PreviewFile): string {
  const by = tool.approvedAs === undefined ? '' : ', defined by code in the image, not by live-lisp';
  const place = preview.place === undefined ? undefined : visibleName(preview.place);
  const about = [place, preview.summary].filter((part) => part !== undefined).join(', ');
  const whole = 'path' in file ? file.path : `not in a file (${file.why})`;
  const lines = [
    `Approve ${tool.name} (${tool.safetyLevel}${by})${about === '' ? '?' : `? ${about}`}`,
    `Whole preview: ${visibleName(whole)}`,
    ...preview.lines,
  ];
  return lines.filter((line) => line.trim() !== '').join('\n');
}

/** Returns for which files an approval for the session holds that was asked for one at PLACE. */
function filesText(place: string | undefined): string {
  if (place === undefined) return '';
  const folder = folderOf(place);
  const kind = visibleName(extensionOf(place));
  const files = kind === '' ? 'files without an extension' : `*${kind} files`;
  return ` for ${files} directly in ${folder === '.' ? 'the workspace root' : visibleName(folder) || '/'}`;
}
