// Merges the tools that have the same name in different images of a server.

import type { Parameter } from './parameter.ts';
import { SAFETY_LEVELS, type Tool } from './tool.ts';

/** A tool of one image. */
export interface Version {
  image: string;
  tool: Tool;
}

/** Returns one tool that lists show in place of VERSIONS. If VERSIONS differ, it has the parameters of all of them, the
 * highest of their safety levels, and descriptions that say which image has which version. */
export function mergedTool(versions: readonly [Version, ...Version[]]): Tool {
  const [{ tool: first }, ...others] = versions;
  if (others.every(({ tool }) => signatureOf(tool) === signatureOf(first))) return first;
  const all = versions.map(({ tool }) => tool);
  const names = new Set(all.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
  const levels = all.map(({ safetyLevel }) => SAFETY_LEVELS.indexOf(safetyLevel));
  return {
    ...first,
    description: perImage(versions.map(({ image, tool }) => ({ image, text: tool.description }))),
    parameters: [...names].map((name) => mergedParameter(name, versions)),
    required: first.required.filter((name) => all.every(({ required }) => required.includes(name))),
    safetyLevel: SAFETY_LEVELS[Math.max(...levels)] ?? first.safetyLevel,
  };
}

/** Returns a text that is equal for two tools if lists show them in the same way. */
function signatureOf({ description, parameters, required, safetyLevel }: Tool): string {
  return JSON.stringify([description, parameters, required, safetyLevel]);
}

function mergedParameter(name: string, versions: readonly Version[]): Parameter {
  const having = versions.flatMap(({ image, tool }) => {
    const parameter = tool.parameters.find((each) => each.name === name);
    return parameter === undefined ? [] : { image, parameter, isRequired: tool.required.includes(name) };
  });
  const [first, ...more] = having.map(({ parameter: { description: _, ...shape } }) => shape);
  const images = having.map(({ image }) => image).join(', ');
  const needed = having.flatMap(({ image, isRequired }) => (isRequired ? image : [])).join(', ');
  const description = [
    having.length < versions.length && `Only in ${images}.`,
    needed !== '' && (having.length < versions.length || needed !== images) && `Required in ${needed}.`,
    perImage(having.map(({ image, parameter }) => ({ image, text: parameter.description ?? '' }))),
  ];
  const isSame = more.every((shape) => JSON.stringify(shape) === JSON.stringify(first));
  const types = [...new Set(having.map(({ parameter }) => parameter.type))];
  const [type = 'string', ...otherTypes] = types;
  return {
    ...(isSame && first !== undefined ? first : { name, type, ...(otherTypes.length > 0 && { otherTypes }) }),
    description: description.filter(Boolean).join(' '),
  };
}

/** Returns TEXTS as one text: the text itself when all images have the same, otherwise each after `In IMAGE: `. */
function perImage(texts: readonly { image: string; text: string }[]): string {
  const [first, ...others] = texts;
  if (others.every(({ text }) => text === first?.text)) return first?.text ?? '';
  return texts.map(({ image, text }) => `In ${image}: ${text}`).join(' ');
}
