// Decides the tool that reads the audit log.

import { CallError } from '../../errors.ts';
import { fittingRows, joinSections, listText } from '../../kernel/reply.ts';
import { printable } from '../../kernel/schema.ts';
import {
  type Arguments,
  type CallContext,
  defineTool,
  keywordList,
  type Result,
  type ToolDefinition,
} from '../../kernel/tool.ts';
import type { AuditLog, AuditRecord } from '../../records/audit-log.ts';
import { visible } from '../../visible.ts';
import { checkWhole, LIMIT, OFFSET, pageArguments, stringArgument } from '../arguments.ts';

const OUTCOMES = ['succeeded', 'failed', 'unfinished'] as const;

const GET_AUDIT_LOG: Omit<ToolDefinition, 'handler'> = {
  name: 'get_audit_log',
  title: 'Read audit log',
  description:
    'Read the audit log: every call that ran code or was to change a file, newest first, with its time, arguments, who allowed it and how it ended. Covers this workspace, also sessions before this one.',
  parameters: [
    { name: 'tool', type: 'string', description: 'Only calls of this tool' },
    { name: 'outcome', type: 'string', description: 'Only calls that ended like this', enum: OUTCOMES },
    {
      name: 'since',
      type: 'string',
      description: 'Only calls from this time on, such as 2026-11-21 or 2026-11-21T12:00:00Z',
    },
    { ...LIMIT, description: 'How many calls to list at most (20 when absent)' },
    OFFSET,
  ],
  categories: ['settings'],
  shortDescription: 'Read which calls ran code or changed files, and who allowed them',
  complexity: 'simple',
  keywords: keywordList(`
    audit log, audit trail, who approved it, calls that were denied, record of tool calls, which files were
    changed by the agent, history of tool calls, security review, dangerous calls, risky calls, refused by the
    human, refused operations, rejected calls, denied requests, was it denied or accepted, approvals, recent
    approvals, past approvals, who confirmed, confirmed by the user, with permission of the user, permissions
    granted, who allowed it, what did the agent do, what has the agent changed, which files did the agent write,
    what was executed and when, dangerous thing done, time and outcome of calls, who did what when,
    accountability, compliance, compliance trail, security events, event viewer, auditd, ausearch, journalctl,
    syslog, security log, access log of tools, trace of activity, which tools were called, tool usage, log of
    tool calls, log of approvals, rejections, rejected, declined, vetoed, authorised, consent, allowed without
    asking, standing approvals, what was allowed, forensics, incident, calls that changed files, failed calls,
    actions of today, what the assistant did, oversight, paper trail, permission history, sudo log, which
    commands did you run and when, log of dangerous actions, show everything you executed, everything that was
    executed, approvals and denials, who approved the edit, which files were modified by the agent, all file
    changes made, was anything dangerous run, since yesterday, ran without asking, rejected by the user, which
    calls did the user reject, recorded tool calls, recorded calls, log of calls, list of calls, tool calls with
    their arguments, call log, called tools, list of denied requests, denied, refused, accepted or denied, my
    write, write calls, writes of the agent, what was written, who wrote, when was it changed, when did it
    happen, by whom, who decided, decision of the human, human decisions, answers of the human, was it approved,
    approved automatically, approved by a standing rule, auto-approved, last dangerous call, timed out calls,
    cancelled calls, outcome of a call, all sessions, other sessions, security check, security report,
    suspicious, tampering, dmesg, bash_history of the agent, change history, activity log, logbook,
    traceability, compliance report, which actions were taken, calls that needed permission, what was refused,
    history of dangerous operations, when did the agent change a file, log of what was run, give me an audit,
    what was executed today, journal of calls`),
};

/** Returns the tool that reads LOG. */
export function getAuditLog(log: AuditLog) {
  return defineTool({ ...GET_AUDIT_LOG, handler: (args, context) => readLog(log, args, context) });
}

function readLog(log: AuditLog, args: Arguments, context: CallContext): Result {
  const { limit, offset } = pageArguments(args, context, 20);
  const since = readTime(stringArgument(args, 'since'));
  const tool = stringArgument(args, 'tool')?.replaceAll('-', '_');
  const records: AuditRecord[] = [];
  let total = 0;
  for (const record of log.newestFirst()) {
    if (since !== undefined && Date.parse(record.time) < since) break;
    if (tool !== undefined && record.tool !== tool) continue;
    if (args['outcome'] !== undefined && outcomeOf(record) !== args['outcome']) continue;
    total += 1;
    if (total > offset && records.length < limit) records.push(record);
  }
  checkWhole(args, context, total);
  const lines = fittingRows(records.map(recordText));
  const text = joinSections([
    `${total} ${total === 1 ? 'call' : 'calls'} in the audit log, newest first:`,
    lines.length > 0 && listText(lines, offset + lines.length < total),
    `The log is ${log.path}`,
  ]);
  return { data: { total, calls: records, path: log.path }, text };
}

function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
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

const AUTHORITIES: Record<AuditRecord['authority'], string> = {
  level: '',
  standing: ', allowed in advance',
  human: ', decided by the user',
};

function recordText(record: AuditRecord): string {
  const { time, tool, level, caller, authority, end } = record;
  const by = caller === 'code' ? ', called by code' : '';
  const outcome = end === undefined ? 'unfinished' : `${outcomeOf(record)} after ${end.milliseconds} ms`;
  const error = end?.error === undefined ? '' : `\n    ${firstLine(end.error)}`;
  return `${time} ${tool} (${level}${by}${AUTHORITIES[authority]}) ${outcome}\n    ${firstLine(JSON.stringify(record.arguments ?? null))}${error}`;
}

/** Returns the beginning of TEXT on one line. */
function firstLine(text: string): string {
  const [line = ''] = visible(text).split('\n');
  return line.length > 200 ? `${line.slice(0, 200)}...` : line;
}
