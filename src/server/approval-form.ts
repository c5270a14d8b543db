// Builds the forms that ask a human for an approval, with the choices and the preset choice.

import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { AskedQuestion } from '../kernel/questions.ts';
import { extensionOf, folderOf, type PlacesOf } from '../kernel/standing.ts';
import { type QuestionLine, questionLine } from '../question-line.ts';

const APPROVE = 'approve';
export const APPROVE_FOR_SESSION = 'approve for this session';
export const CHANGE = 'approve with changes';
export const DENY = 'deny';
/** The choice to show the next page. */
export const MORE = 'show more';

/** Returns the form that asks QUESTION with MESSAGE. Preset is the next page, else approval if APPROVES, else none. */
export function decisionForm(
  question: AskedQuestion,
  message: string,
  approves: boolean,
): ElicitRequestFormParams {
  const { tool } = question;
  const all = choices(question);
  const preset = all.includes(MORE) ? MORE : approves ? APPROVE : undefined;
  const lasting = all.includes(APPROVE_FOR_SESSION) ? question.lasting : undefined;
  // Codex selects the first choice, whatever is preset.
  const offered = preset === undefined ? [DENY, ...all.filter((choice) => choice !== DENY)] : all;
  return {
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: lasting ?? String(questionLine`${tool.name}, once`),
          enum: offered,
          ...(preset !== undefined && { default: preset }),
        },
      },
      required: ['decision'],
    },
  };
}

/** Returns the choices of a human who is asked QUESTION. */
export function choices({ lasting, pages }: Pick<AskedQuestion, 'lasting' | 'pages'>): string[] {
  if (pages.length > 0) return [MORE, APPROVE, CHANGE, DENY];
  return [APPROVE, ...(lasting === undefined ? [] : [APPROVE_FOR_SESSION]), CHANGE, DENY];
}

/** Returns the form that asks for other arguments. */
export function changesForm({ tool, given }: AskedQuestion): ElicitRequestFormParams {
  return {
    message: `${questionLine`${tool.name} with which arguments instead? All of them, as a JSON object.`}`,
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

/** Returns the scope of an approval for the session, as a phrase. */
export function lastingText({ tool, preview }: Pick<AskedQuestion, 'tool' | 'preview'>): string {
  return `for this session: ${questionLine`${tool.allowedAs ?? tool.name}${filesText(preview)}`}`;
}

function filesText({ place, otherPlaces = [] }: PlacesOf): QuestionLine {
  if (place === undefined) return questionLine``;
  const kinds = [place, ...otherPlaces].map((each) => {
    const folder = folderOf(each);
    const where = folder === '.' ? questionLine`the workspace` : questionLine`${folder || '/'}`;
    return questionLine`*${extensionOf(each)} directly in ${where}`;
  });
  const different = kinds.filter(
    ({ text }, index) => kinds.findIndex((kind) => kind.text === text) === index,
  );
  return questionLine` of ${different}`;
}
