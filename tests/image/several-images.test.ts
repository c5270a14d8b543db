// A server with several images: each call names its image, and nothing of one is taken for something of another. Through
// a real client, with an image of the server's own and one that a command starts behind a banner.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerAgentQTools } from '../../src/agent-q.ts';
import { readConfig } from '../../src/config.ts';
import { run } from '../cli/run.ts';
import { Shell } from '../command/shell.ts';
import { bad, good, NO_SYSTEMS, PROJECT, type Session, testSbcl } from '../harness.ts';
import { until } from '../server/processes.ts';
import { ownSession, sharedFolder, sharedSession } from '../shared.ts';

const sharedPlace = sharedFolder();

/** A command that starts an SBCL behind a banner. */
const BEHIND_BANNER = `sh -c 'echo Welcome to the build host; exec ${testSbcl()}'`;
const TWO_COMMANDS = ['--image', `gpu=${BEHIND_BANNER}`, '--image', `app=${testSbcl()}`];

/** Returns the schema of the parameters of each tool that SESSION lists. */
async function schemas(session: Session) {
  const { tools } = await session.client.listTools();
  return new Map(tools.map(({ name, inputSchema }) => [name, inputSchema]));
}

describe('two images of which calls have to name one', () => {
  // A status that comes late on a busy machine says that the image does not react.
  const waits = { image: { status: 60_000 } };
  const session = sharedSession({ args: [...NO_SYSTEMS, ...TWO_COMMANDS], waits });
  const gpu = { image: 'gpu' };
  const app = { image: 'app' };

  test('the schemas have the parameter', async () => {
    const all = await schemas(session);
    expect(all.get('eval_form')).toMatchObject({
      properties: { image: { type: 'string', enum: ['gpu', 'app'] } },
      required: ['form', 'image'],
    });
    expect(all.get('image_status')).toEqual({
      type: 'object',
      properties: { image: { type: 'string', description: 'All without it', enum: ['gpu', 'app'] } },
    });
    const without = [...all].filter(([, { properties }]) => !Object.hasOwn(properties ?? {}, 'image'));
    expect(without.map(([name]) => name)).toEqual(['search_tools', 'get_audit_log']);
    const found = await session.text('search_tools', { query: 'eval_form', includeSchema: true });
    expect(found).toContain('"enum":["gpu","app"]');
  });

  test('a call works in the image that it names', async () => {
    const before = await session.call('eval_form', { form: '(defvar *here* :gpu)', ...gpu });
    expect(before).toEqual(good('*HERE*'));
    expect(await session.call('eval_form', { form: "(boundp '*here*)", ...app })).toEqual(good('NIL'));
    expect(await session.call('eval_form', { form: '*here*', ...gpu })).toEqual(good(':GPU'));
    expect(await session.text('describe_symbol', { symbol: '*here*', ...app })).toContain('It names nothing');
  });

  test('a call that names none, or one that is not there, is refused', async () => {
    expect(await session.call('eval_form', { form: '1' })).toEqual(
      bad('This server has several images, so nothing was done. Give image: one of gpu, app.'),
    );
    expect(await session.call('eval_form', { form: '1', image: 'gp' })).toEqual(
      bad('There is no image gp, so nothing was done. Give image: one of gpu, app.'),
    );
    expect(await session.call('eval_form', { form: '1', image: ['gpu'] })).toEqual(
      bad('There is no image gpu, so nothing was done. Give image: one of gpu, app.'),
    );
    expect((await session.call('eval_form', { form: '1', image: null })).text).toContain(
      'has several images',
    );
    expect(await session.call('eval_form', { from: '1', ...gpu })).toEqual(
      bad("Required parameter 'form' missing"),
    );
    expect(await session.call('image_status', { deep: true })).toEqual(
      bad("Unknown parameter 'deep'; image_status takes image."),
    );
    expect(await session.call('get_audit_log', gpu)).toEqual(
      bad("Unknown parameter 'image'; get_audit_log takes tool, outcome, since, limit, offset."),
    );
  });

  test('an id of one is refused in the other, and used in its own', async () => {
    const ids: string[] = [];
    for (const where of [gpu, app]) {
      const text = await session.text('inspect', { value: '*features*', ...where });
      ids.push(/@\d+/.exec(text)?.[0] ?? '');
    }
    const [ofGpu = '', ofApp = ''] = ids;
    expect(ofGpu).not.toBe(ofApp);
    expect(await session.text('inspect', { value: ofGpu, ...gpu })).toContain(`  ${ofGpu}\nType: `);
    expect(await session.text('inspect', { value: ofApp, ...app })).toContain(`  ${ofApp}\nType: `);
    expect(await session.call('inspect', { value: ofGpu, ...app })).toEqual(
      bad(
        `Parameter 'value' is ${ofGpu}, an id of the image gpu, not of app, so nothing was done. Give image: gpu, or an id from an answer of app.`,
      ),
    );
  });

  test('a call of one is not interrupted by its number in the other', async () => {
    const running = session.call('eval_form', { form: '(loop)', ...gpu });
    let number = Number.NaN;
    while (Number.isNaN(number)) {
      const text = await session.text('image_status', gpu);
      number = Number(/^ *(\d+): eval_form/m.exec(text)?.[1] ?? Number.NaN);
    }
    expect(await session.call('interrupt', { job: number, ...app })).toEqual(
      bad(
        `Parameter 'job' is ${number}, an id of the image gpu, not of app, so nothing was done. Give image: gpu, or an id from an answer of app.`,
      ),
    );
    expect(await session.text('interrupt', { all: true, ...app })).toBe(
      'No call runs in the image, so there is nothing to interrupt.',
    );
    expect(await session.text('interrupt', { job: number, ...gpu })).toContain(`Call ${number}`);
    expect((await running).isError).toBe(true);
  });

  test('image_status tells all, or one', async () => {
    const { text, isError } = await session.call('image_status');
    expect(isError).toBe(false);
    expect(text).toMatch(/^gpu:\nThe Lisp image is ready[\s\S]*\n\napp:\nThe Lisp image is ready/);
    expect(await session.text('image_status', app)).not.toContain('gpu');
  });

  test('the audit log says for which image a call was', async () => {
    await session.call('eval_form', { form: ':audited', ...app });
    const text = await session.text('get_audit_log', { limit: 1 });
    expect(text).toMatch(/ eval_form in app \(cautious\) succeeded.*\n *\{"form":":audited"\}/);
  });

  test('the history has the evaluations in the image', async () => {
    for (const [form, where] of [
      ['(list :in :gpu)', gpu],
      ['(list :in :app)', app],
    ] as const)
      await session.call('eval_form', { form, ...where });
    const text = await session.text('get_repl_history', { containing: '(list :in', ...gpu });
    expect(text).toMatch(/^1 evaluation .*\n\n.* in COMMON-LISP-USER, \d+ ms\n/);
    expect(text).toContain('=> (:IN :GPU)');
  });

  test('the error that an answer showed is given whole behind an answer of another image', async () => {
    await session.call('eval_form', { form: '(error "Of gpu.")', ...gpu });
    expect(await session.text('get_last_error', gpu)).toContain('Error: the same as in the previous answer');
    await session.call('eval_form', { form: '(error "Of gpu.")', ...gpu });
    await session.call('eval_form', { form: '1', ...app });
    expect(await session.text('get_last_error', gpu)).toContain('Error: Of gpu.');
  });

  test('code in an image calls tools for its own image', async () => {
    await session.call('eval_form', { form: '(defun only-in-app () 1)', ...app });
    const form = '(live-lisp:call-tool "eval_form" :form "(fboundp \'only-in-app)")';
    expect(await session.text('eval_form', { form, ...gpu })).toContain('NIL');
    expect(await session.text('eval_form', { form, ...app })).toContain('ONLY-IN-APP');
    const searched = '(live-lisp:call-tool "search_tools" :query "eval_form" :include-schema t)';
    const { text } = await session.call('eval_form', { form: searched, ...gpu });
    expect(text).toContain('eval_form');
    expect(text).not.toContain('gpu');
  });

  test('a tool that code in one image made is a tool of that image', async () => {
    const form = `(live-lisp:register-tool live-lisp:*agent-q-registry*
        (live-lisp:define-tool "only_there" "Tells that it is there." '() :handler (lambda (args) args "there")))`;
    await session.call('eval_form', { form, ...gpu });
    expect((await schemas(session)).get('only_there')?.properties).toMatchObject({
      image: { enum: ['gpu'] },
    });
    expect(await session.call('only_there', app)).toEqual(
      bad('The image app has no tool only_there, so nothing was done. Give image: gpu.'),
    );
    expect(await session.text('only_there', gpu)).toContain('there');
    for (const [where, own] of [
      [gpu, 'x'],
      [app, 'y'],
    ] as const) {
      const taken = `'((:name "${own}" :type :string))`;
      await session.call('eval_form', {
        form: form.replace('only_there', 'in_both').replace("'()", taken),
        ...where,
      });
    }
    expect(await session.text('in_both', { y: '1', ...app })).toContain('there');
    expect(await session.call('in_both', { y: '1', ...gpu })).toEqual(
      bad(
        "The tool in_both has the parameter 'y' in the image app, but not in gpu, so nothing was done. Leave it out, or give image: app.",
      ),
    );
    expect(await session.call('in_both', { z: '1', ...gpu })).toEqual(
      bad("Unknown parameter 'z'; in_both takes x, image."),
    );
    const taking = form.replace('only_there', 'taking').replace("'()", '\'((:name "image" :type :string))');
    expect((await session.call('eval_form', { form: taking, ...gpu })).text).toContain(
      "Tool taking was not registered: the parameter name 'image' is reserved for choosing an image of this server. Give the parameter another name.",
    );
  });

  test('tools of one name that differ are listed with what each image takes', async () => {
    const define = (description: string, parameters: string, level: string) =>
      `(live-lisp:register-tool live-lisp:*agent-q-registry*
        (live-lisp:define-tool "unlike" "${description}" '(${parameters}) :required '("size") :safety-level ${level}
          :handler (lambda (args) args "there")))`;
    const [size, both] = ['(:name "size" :type', '(:name "both" :type :string :description "Same")'];
    const ofGpu = define('Of gpu.', `${size} :string) ${both}`, ':dangerous');
    const ofApp = define('Of app.', `${size} :integer) ${both} (:name "more" :type :boolean)`, ':cautious');
    await session.call('eval_form', { form: ofGpu, ...gpu });
    await session.call('eval_form', { form: ofApp, ...app });
    const { tools } = await session.client.listTools();
    const unlike = tools.find(({ name }) => name === 'unlike');
    expect(unlike?.description).toContain('In gpu: Of gpu. In app: Of app.');
    expect(unlike?.inputSchema).toEqual({
      type: 'object',
      properties: {
        size: { type: ['string', 'integer'] },
        both: { type: 'string', description: 'Same' },
        more: { type: 'boolean', description: 'Only in app.' },
        image: { type: 'string', enum: ['gpu', 'app'] },
      },
      required: ['size', 'image'],
    });
    expect(await session.text('unlike', { size: 1, more: true, ...app })).toContain('there');
  });

  test('what one lost is told in its next answer, and not in those of the other', async () => {
    await session.call('eval_form', { form: '(sb-ext:exit :code 3 :abort t)', ...gpu });
    expect(await session.call('eval_form', { form: '(+ 1 2)', ...app })).toEqual(good('3'));
    const { text, notices } = await session.call('eval_form', { form: '(+ 1 2)', ...gpu });
    expect(text).toBe('3');
    expect(notices.join('\n')).toContain('new Lisp image');
    // Its numbers stay apart from those of the other.
    const made = await session.text('inspect', { value: '*features*', ...gpu });
    const [, number = ''] = /@(\d+)/.exec(made) ?? [];
    expect(Number(number) % 2).toBe(1);
  });
});

describe('the image of the server and another', () => {
  const session = sharedSession({
    args: [...NO_SYSTEMS, '--no-sandbox', '--image', 'own', '--image', `far=${BEHIND_BANNER}`],
  });

  test('a call that names none works in its own', async () => {
    expect((await schemas(session)).get('eval_form')).toMatchObject({
      properties: { image: { description: 'own without it', enum: ['own', 'far'] } },
      required: ['form'],
    });
    expect(await session.call('eval_form', { form: '(defvar *own* 1)' })).toEqual(good('*OWN*'));
    expect(await session.text('eval_form', { form: "(boundp '*own*)", image: 'far' })).toBe('NIL');
    expect(await session.text('eval_form', { form: "(boundp '*own*)", image: 'own' })).toBe('T');
  });

  test('a question names the image', async () => {
    const asked: string[] = [];
    const asking = await ownSession({
      args: [...NO_SYSTEMS, '--no-sandbox', '--image', 'own', '--image', `far=${testSbcl()}`],
      onQuestion: ({ message }) => {
        asked.push(message);
        return { action: 'accept', content: { decision: 'approve' } };
      },
    });
    for (const image of ['far', undefined]) {
      await asking.call('eval_form', { form: '(defvar *kept* 1)', ...(image && { image }) });
      expect((await asking.call('restart_image', { rebuild: 'none', ...(image && { image }) })).isError).toBe(
        false,
      );
    }
    expect(asked.map((message) => message.split(' (')[0])).toEqual([
      'Approve restart_image in the image far',
      'Approve restart_image in the image own',
    ]);
  });
});

test('a command names the image, and is told only of what was lost in that', async () => {
  const shell = new Shell(sharedPlace.path);
  const session = await ownSession({
    args: ['--root', shell.workspace, ...TWO_COMMANDS],
    env: { LIVE_LISP_SERVING: shell.serving },
  });
  await session.call('eval_form', { form: '(sb-ext:exit :code 3 :abort t)', image: 'app' });
  await until('the session', 60_000, async () => (await shell.sessions()).length === 1);
  expect(await shell.run(['eval', '--image', 'gpu', '(+ 1 2)'])).toEqual({
    code: 0,
    stdout: '3\n',
    stderr: '',
  });
  const { stdout, stderr } = await shell.run(['eval', '--image=app', '(+ 1 2)']);
  expect(stdout).toBe('3\n');
  expect(stderr).toContain('new Lisp image');
  expect(await shell.run(['eval', '(+ 1 2)'])).toMatchObject({
    code: 2,
    stdout: 'This server has several images, so nothing was done. Give image: one of gpu, app.\n',
  });
});

describe('flags', () => {
  test.each([
    [['b=sbcl', 'b=sh'], '--image b is given twice; give each image a name of its own.'],
    [
      ['auto', 'own'],
      '--image auto and --image own both set the image for calls that name none, so give only one of them.',
    ],
  ])('--image %j is refused', (images, message) => {
    const args = images.flatMap((image) => ['--image', image]);
    expect(() => readConfig(args, {})).toThrow(message);
  });

  test('other commands take one image', async () => {
    const { code, stderr } = await run(['doctor', '--image', 'own', '--image', 'b=sbcl']);
    expect([code, stderr]).toEqual([
      2,
      'live-lisp: The command doctor takes one image, and --image is given 2 times; give it once.\n',
    ]);
  });

  test('a process that imports the package takes one image', () => {
    expect(() => registerAgentQTools(['--image', 'own', '--image', 'b=sbcl'])).toThrow(
      'A process that imports live-lisp works with one image; give --image once.',
    );
  });

  test('a map goes to the image that it names', () => {
    const images = ['--image', 'a=sbcl', '--image', 'b=sbcl'];
    const config = readConfig(
      [...images, '--map', `b:${PROJECT}=/srv/b/`, '--map', `a:${join(PROJECT, 'src')}=/a`],
      {},
    );
    expect(config.images.map(({ imageCommand }) => imageCommand?.maps)).toEqual([
      [{ here: join(PROJECT, 'src'), there: '/a' }],
      [{ here: PROJECT, there: '/srv/b' }],
    ]);
    expect(() => readConfig([...images, '--map', 'c:.=/srv'], {})).toThrow(
      '--map must be a:LOCAL=REMOTE or b:LOCAL=REMOTE (a local folder and its absolute path where the image runs), such as a:.=/srv/app, not c:.=/srv.',
    );
  });
});
