import { describe, expect, test } from 'vitest';
import { brokenCall, codeFinder, topLevelLists, withoutProse } from '../../src/source/code-search.ts';

const TEXT = `;; scan is told of here
(defun scan-all (x) "Scan X." #| scan |#
  (list (scan x) (cl-ppcre:scan x) #'scan 'SCAN
        :scan |scan| "scan" (setf  (car ; a place
   x) 1)))
`;

function found(pattern: string): string[] {
  return [...(codeFinder(pattern)?.(TEXT) ?? [])].flatMap((place) => (place ? [TEXT.slice(...place)] : []));
}

describe('code', () => {
  test('is found by whole symbols, of any package and in any case', () => {
    expect(found('scan')).toEqual(['scan', 'cl-ppcre:scan', 'scan', 'SCAN']);
    expect(found('cl-ppcre::scan')).toEqual(['cl-ppcre:scan']);
    expect(found(':scan')).toEqual([':scan']);
    expect(found('|scan|')).toEqual(['|scan|']);
    expect(found("#'scan")).toEqual(["#'scan"]);
    expect(found('scan-all')).toEqual(['scan-all']);
    expect(found('sca')).toEqual([]);
    expect([...(codeFinder('#xfACE')?.('#xface #xFACE face') ?? [])]).toHaveLength(2);
  });

  test('a call of several lines is told on one, without comments', () => {
    const call = (text: string, start: string) => brokenCall(text, text.indexOf(start));
    expect(call('(f (scan x ; a place\n  "a  b" #| no |#\n  (y))\n z)', 'scan')).toEqual({
      from: 3,
      call: '(scan x "a b" (y))',
    });
    expect(call('(f (scan x\n  y) z)', '(scan')).toEqual({ from: 3, call: '(scan x y)' });
    expect(call('(f (scan x)\n  y)', 'scan')).toBeUndefined();
    expect(call(`(scan\n${' y'.repeat(600)})`, 'scan')).toBeUndefined();
  });

  test('is found by pieces of forms, however they are laid out', () => {
    expect(found('(setf (car x)')).toEqual(['(setf  (car ; a place\n   x)']);
    expect(found('(scan x)')).toEqual(['(scan x)', '(cl-ppcre:scan x)']);
    expect(found('"scan"')).toEqual(['"scan"']);
  });

  test('is not found by nothing', () => {
    expect(codeFinder('  ; a comment')).toBeUndefined();
  });

  test('stays where it stands when its prose is taken away', () => {
    const code = withoutProse(TEXT);
    expect(code.length).toBe(TEXT.length);
    expect(code.split('\n').length).toBe(TEXT.split('\n').length);
    expect(code.match(/scan/gi)?.length).toBe(7);
    expect(code).toContain('"    " (setf  (car          \n   x) 1)))');
  });
});

test('top-level forms are counted, also those of other Lisps', () => {
  expect(topLevelLists('')).toBe(0);
  expect(topLevelLists('(a (b)) foo #+sbcl (c) #-(or x (and y)) (d) "(e)" ; (f)\n(g)')).toBe(4);
});
