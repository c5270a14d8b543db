// What code reads without a limit is all there is, or an error.

import { describe, expect, test } from 'vitest';
import { CallError } from '../../src/errors.ts';
import type { Image } from '../../src/image/image.ts';
import type { CallContext } from '../../src/kernel/tool.ts';
import type { Evaluation } from '../../src/records/repl-history.ts';
import { getReplHistoryTool } from '../../src/tools/execution/history.ts';
import { listPackageSymbolsTool } from '../../src/tools/introspection/packages.ts';
import { aproposSearchTool } from '../../src/tools/introspection/symbols.ts';
import { checkWhole } from '../../src/tools/paging.ts';
import { Places } from '../../src/tools/places.ts';
import { getAuditLogTool } from '../../src/tools/settings/get-audit-log.ts';

const CODE: CallContext = { forData: true };
const TOO_MANY =
  'There are 250001 rows, but Lisp code gets at most 250000 at once. Ask for fewer, or read them in parts with limit and offset.';

describe('more rows than code gets at once', () => {
  test('S2.21 are an error, unless code asks for a part or a model reads them', () => {
    expect(() => checkWhole({}, CODE, 250_001)).toThrow(new CallError(TOO_MANY));
    for (const [args, context, total] of [
      [{}, CODE, 250_000],
      [{ offset: 1 }, CODE, 250_001],
      [{ limit: 2000 }, CODE, 250_001],
      [{}, {}, 250_001],
    ] as const) {
      expect(() => checkWhole(args, context, total)).not.toThrow();
    }
  });

  const many = Array.from({ length: 250_001 });
  const image = (value: object) =>
    ({ call: async () => ({ ending: { kind: 'done' }, data: { value } }) }) as unknown as Image;
  const evaluation: Evaluation = { time: '', package: 'P', form: '1', milliseconds: 1 };
  const record = { id: 1, time: '', root: '/', tool: 'x', level: 'safe', caller: 'code', authority: 'level' };
  const found = { name: 'P', counts: [250_001, 0, 0], total: 250_001, rows: [] };

  test.each([
    aproposSearchTool(image({ total: 250_001, inherited: 0, rows: [] }), new Places('/')),
    listPackageSymbolsTool(image(found)),
    getReplHistoryTool({ newestFirst: () => many.map(() => evaluation) } as never),
    getAuditLogTool({ newestFirst: () => many.map(() => ({ ...record, arguments: {} })) } as never),
  ])('S2.21 are an error of $name', async (tool) => {
    const run = async () => tool.handler({ pattern: 'x', package: 'p' }, CODE);
    await expect(run()).rejects.toThrow(new CallError(TOO_MANY));
  });
});
