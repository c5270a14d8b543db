// Defines the tool get_audit_log, which reads the audit log.

import { CallError } from '../../errors.ts';
import { beyondNote, cutText, fittingRows, hasMore, joinSections, listText } from '../../kernel/reply.ts';
import { printable } from '../../kernel/schema.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import type { AuditLog, AuditRecord } from '../../records/audit-log.ts';
import { visible } from '../../visible.ts';
import { dateOf, newestOf, recordTimeText, shared, totalText } from '../newest.ts';
import { LIMIT, OFFSET } from '../paging.ts';

const OUTCOMES = ['succeeded', 'failed', 'unfinished'] as const;

const GET_AUDIT_LOG = {
  name: 'get_audit_log',
  description:
    'List what the agent did: the calls that ran code or would change files, newest first, with arguments, outcome and who approved or denied them, also in earlier sessions of the workspace. For values of evaluations use get_repl_history.',
  parameters: [
    { name: 'tool', type: 'string' },
    { name: 'outcome', type: 'string', enum: OUTCOMES },
    {
      name: 'since',
      type: 'string',
      description: 'Such as 2026-11-21',
    },
    LIMIT,
    OFFSET,
  ],
  categories: ['settings'],
  shortDescription: 'Read which calls ran code or changed files, and who allowed them',
  complexity: 'simple',
  keywords: [
    'audit trail',
    'security review',
    'record of tool calls',
    'audit log',
    'who approved it',
    'calls that were denied',
    'which files were changed by the agent',
    'what was done',
  ],
} as const satisfies ToolDescription;

export function getAuditLogTool(log: AuditLog) {
  let pathShown = false;
  return defineTool({
    ...GET_AUDIT_LOG,
    images: 'any',
    handler: async (args, context) => {
      const { text, ...result } = await readLog(log, args, context);
      const where = !pathShown && `The log is ${log.path}`;
      pathShown ||= context.page !== true;
      return { ...result, text: joinSections([text, where]) };
    },
  });
}

async function readLog(
  log: AuditLog,
  args: ArgumentsFor<typeof GET_AUDIT_LOG>,
  context: CallContext,
): Promise<Result> {
  const since = readTime(args.since);
  const tool = args.tool?.replaceAll('-', '_');
  const newest = await newestOf(args, context, {
    items: recordsSince(log.newestFirst(), since),
    matches: (record) =>
      (!tool || record.tool === tool) && (args.outcome === undefined || outcomeOf(record) === args.outcome),
  });
  const { rows: records, offset, total, atLeast } = newest;
  const date = shared(records, dateOf);
  const lines = fittingRows(records.map((record) => visible(recordText(record, date))));
  const page = { offset, shown: lines.length, total };
  const text = joinSections([
    `${totalText(newest, 'call')} in the audit log, newest first${date === undefined ? '' : `, of ${date}`}:`,
    listText(lines, hasMore(page)) || beyondNote(page, 'calls'),
  ]);
  return { data: { total, ...(atLeast && { atLeast }), calls: records, path: log.path }, text };
}

function* recordsSince(records: Iterable<AuditRecord>, since: number | undefined): Generator<AuditRecord> {
  for (const record of records) {
    if (since !== undefined && Date.parse(record.time) < since) return;
    yield record;
  }
}

function readTime(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new CallError(
      `Parameter 'since' must be a date or a time such as 2026-11-21 or 2026-11-21T12:00:00Z, not ${printable(text)}.`,
    );
  }
  return time;
}

function outcomeOf({ end }: AuditRecord): (typeof OUTCOMES)[number] {
  if (end === undefined) return 'unfinished';
  return end.success ? 'succeeded' : 'failed';
}

const DECISIONS: Record<AuditRecord['authority'], string> = {
  level: '',
  'nothing at stake': ', not asked because the image had stopped working',
  standing: ', allowed in advance',
  human: ', decided by the user',
  'human, with changes': ', approved by the user with changes',
  'human, in an editor': ', decided by the user in an editor or terminal',
  denied: ', denied by the user',
  nobody: ', nobody answered',
  'timed out': ', nobody answered in time',
  'cannot ask': ', nobody could be asked',
};

const CALLERS: Record<AuditRecord['caller'], string> = {
  client: '',
  command: ', called by a command',
  code: ', called by code',
  page: ', called by the user on the page',
};

/** Returns the text for RECORD. Leaves out the date if it equals STATED, the date in the header. */
function recordText(record: AuditRecord, stated: string | undefined): string {
  const { time, tool, image, level, caller, authority, end } = record;
  const by = CALLERS[caller];
  const outcome = end === undefined ? 'unfinished' : `${outcomeOf(record)} after ${end.milliseconds} ms`;
  const where = image === undefined ? '' : ` in ${image}`;
  const error = end?.error === undefined ? '' : `\n    ${firstLine(end.error)}`;
  return `${recordTimeText(time, stated)} ${tool}${where} (${level}${by}${DECISIONS[authority]}) ${outcome}\n    ${firstLine(JSON.stringify(record.arguments ?? null))}${error}`;
}

function firstLine(text: string): string {
  const [line = ''] = visible(text).split('\n');
  return cutText(line, 200);
}
