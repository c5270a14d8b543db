// Decides what a human sees who is asked for an approval: some clients show four lines of the message, and a field for each
// property.

import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { OpenQuestion } from '../kernel/approval.ts';
import type { AskedQuestion } from '../kernel/questions.ts';
import { extensionOf, folderOf, type PlacesOf } from '../kernel/standing.ts';
import { visibleLine, visibleName } from '../visible.ts';
import type { PreviewFile } from './preview-files.ts';

const APPROVE = 'approve';
export const APPROVE_FOR_SESSION = 'approve for this session';
export const CHANGE = 'approve with changes';
export const DENY = 'deny';

/** Returns the form that asks QUESTION with MESSAGE. SESSION says whether an approval can hold for one. */
export function decisionForm(
  question: OpenQuestion,
  message: string,
  session: boolean,
): ElicitRequestFormParams {
  const { tool, preview } = question;
  const offered = choices(question, session);
  const lasting = `for this session: ${tool.allowedAs ?? tool.name}${filesText(preview)}`;
  return {
    message,
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

/** Returns what a human can choose who is asked a question whose approval LASTS for a session, if there is one. */
export function choices({ lasts }: Pick<OpenQuestion, 'lasts'>, session: boolean): string[] {
  return [APPROVE, ...(session && lasts ? [APPROVE_FOR_SESSION] : []), CHANGE, DENY];
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
export function messageFor({ tool, preview }: OpenQuestion, file: PreviewFile): string {
  const by = tool.approvedAs === undefined ? '' : ', defined by code in the image, not by live-lisp';
  const { place: first, otherPlaces = [] } = preview;
  const more = otherPlaces.length > 0 ? ` and ${otherPlaces.length} more` : '';
  const place = first === undefined ? undefined : shortName(first) + more;
  const about = [preview.summary, place].filter((part) => part !== undefined).join(', in ');
  const whole = 'path' in file ? file.path : `not in a file (${file.why})`;
  const lines = [
    `Approve ${tool.name} (${tool.safetyLevel}${by})${about === '' ? '?' : `? ${about}`}`,
    `Whole preview: ${visibleLine(whole)}`,
    ...preview.lines,
  ];
  return lines.filter((line) => line.trim() !== '').join('\n');
}

/** Characters of a name that leave room for what else the first line says. */
const NAME_LIMIT = 120;

/** Returns the name of the file at PLACE, quoted where its end could be taken for elsewhere, and without its middle when it
 *  is long. */
function shortName(place: string): string {
  const name = visibleName(place);
  const half = NAME_LIMIT / 2;
  const short = name.length <= NAME_LIMIT ? name : `${name.slice(0, half)}[...]${name.slice(-half)}`;
  return /[\s,:?]/.test(short) ? JSON.stringify(short) : short;
}

/** Returns for which files an approval for the session holds that was asked for those that PREVIEW is about. */
function filesText({ place, otherPlaces = [] }: PlacesOf): string {
  if (place === undefined) return '';
  const kinds = [place, ...otherPlaces].map((each) => {
    const folder = folderOf(each);
    const kind = visibleName(extensionOf(each));
    return `*${kind} files directly in ${folder === '.' ? 'the workspace root' : visibleName(folder) || '/'}`;
  });
  return ` of ${[...new Set(kinds)].join(', ')}`;
}
