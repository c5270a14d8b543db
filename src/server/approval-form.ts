// Builds the form that asks a human for approval.

import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { OpenQuestion } from '../kernel/approval.ts';
import type { PendingQuestion } from '../kernel/questions.ts';
import { extensionOf, folderOf, type PlacesOf } from '../kernel/standing.ts';
import { type QuestionLine, questionLine } from '../question-line.ts';

const APPROVE = 'approve';
export const APPROVE_FOR_SESSION = 'approve for this session';
export const DENY = 'deny';
export const MORE = 'show more';

/** Returns the form for QUESTION with the text MESSAGE. If QUESTION has a further page, showing this page is the
 * preselected choice. Otherwise approval is preselected if PRESETS_APPROVAL is true, else nothing. */
export function decisionForm(
  question: PendingQuestion,
  message: string,
  presetsApproval: boolean,
): ElicitRequestFormParams {
  const { tool } = question;
  const decisions = choices(question);
  const preset = decisions.includes(MORE) ? MORE : presetsApproval ? APPROVE : undefined;
  const sessionScope = decisions.includes(APPROVE_FOR_SESSION) ? question.sessionScope : undefined;
  // Codex preselects the first choice and ignores the default.
  const offered = preset === undefined ? [DENY, ...decisions.filter((choice) => choice !== DENY)] : decisions;
  return {
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: sessionScope ?? String(questionLine`${tool.name}, once`),
          enum: offered,
          ...(preset !== undefined && { default: preset }),
        },
      },
      required: ['decision'],
    },
  };
}

/** Returns the choices of a form, for a question with this session scope and these pages still to show. */
export function choices({ sessionScope, pages }: Pick<PendingQuestion, 'sessionScope' | 'pages'>): string[] {
  if (pages.length > 0) return [MORE, APPROVE, DENY];
  return [APPROVE, ...(sessionScope === undefined ? [] : [APPROVE_FOR_SESSION]), DENY];
}

/** Returns a phrase for the calls that an approval for the session would cover. */
export function sessionScopeText({
  tool,
  image,
  preview,
}: Pick<OpenQuestion, 'tool' | 'image' | 'preview'>): string {
  const where = image === undefined ? questionLine`` : questionLine` in the image ${image}`;
  return `for this session: ${questionLine`${tool.allowedAs ?? tool.name}${where}${filesText(preview)}`}`;
}

function filesText({ place, otherPlaces = [] }: PlacesOf): QuestionLine {
  if (place === undefined) return questionLine``;
  const kinds = [place, ...otherPlaces].map((file) => {
    const folder = folderOf(file);
    const where = folder === '.' ? questionLine`the workspace` : questionLine`${folder || '/'}`;
    return questionLine`*${extensionOf(file)} directly in ${where}`;
  });
  const unique = kinds.filter(({ text }, index) => kinds.findIndex((kind) => kind.text === text) === index);
  return questionLine` of ${unique}`;
}
