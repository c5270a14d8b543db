// Decides what is known of a rebuild, and in which words what was built again and what failed is named.

import type { Ending } from '../wire/endings.ts';
import type { Entry } from './entries.ts';

/** What was to be built again, and why it could not be or in which way it is another. */
export interface Remark {
  what: string;
  why: string;
}

/** What became of a rebuild. */
export interface Rebuilt {
  forms: number;
  files: string[];
  systems: string[];
  tools: string[];
  failed: Remark[];
  changed: Remark[];
  /** Entries for which there was no time. */
  unreached: number;
  /** The image was lost again too often, so it was not built again at all. */
  gaveUp: boolean;
  milliseconds: number;
}

/** Returns what a rebuild has done that has not begun. */
export function nothingBuilt(): Rebuilt {
  return {
    forms: 0,
    files: [],
    systems: [],
    tools: [],
    failed: [],
    changed: [],
    unreached: 0,
    gaveUp: false,
    milliseconds: 0,
  };
}

/** Returns which forms FAILED, as the agent tells, and why. */
export function failuresOf(failed: unknown): { index: number; why: string }[] {
  return (Array.isArray(failed) ? failed : []).map((each) => {
    const { index, why } = Object(each) as { index: unknown; why: unknown };
    return {
      index: Number.isInteger(index) ? Number(index) : -1,
      why: typeof why === 'string' ? why : 'It failed.',
    };
  });
}

/** Returns how ENTRY is named. */
export function labelOf(entry: Entry | undefined): string {
  switch (entry?.kind) {
    case 'form': {
      const text = entry.text.replace(/\s+/g, ' ');
      return text.length > 80 ? `${text.slice(0, 80)}...` : text;
    }
    case 'file':
      return `load_file ${entry.path}`;
    case 'system':
      return `load_system ${entry.name}`;
    default:
      return `(in-package ${entry?.inPackage ?? ''})`;
  }
}

/** Returns why ENDING is not what it should be, as part of a sentence; OTHERWISE when it is. */
export function endingWords(ending: Ending, otherwise: string): string {
  switch (ending.kind) {
    case 'condition':
      return ending.condition.text;
    case 'lost':
      return `the image was lost when it was built with it (${ending.how})`;
    case 'interrupted':
      return `it was interrupted after ${(ending.afterMs / 1000).toFixed(1)} s (${ending.reason})`;
    default:
      return otherwise;
  }
}
