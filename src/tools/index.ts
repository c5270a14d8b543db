// Decides which tools are built in, in the order of the list.

import type { Image } from '../image/image.ts';
import type { Tool } from '../kernel/tool.ts';
import type { AuditLog } from '../records/audit-log.ts';
import { executionTools } from './execution/index.ts';
import { loadFile, loadSystem } from './execution/loading.ts';
import { introspectionTools } from './introspection/index.ts';
import { Places } from './places.ts';
import { getAuditLog } from './settings/audit.ts';

/** Returns the built-in tools over IMAGE and the audit LOG; relative paths start at ROOT. */
export function builtinTools(image: Image, root: string, log: AuditLog): Tool[] {
  const places = new Places(root);
  return [
    ...introspectionTools(image, places),
    ...executionTools(image),
    loadSystem(image, places),
    loadFile(image, places, root),
    getAuditLog(log),
  ];
}
