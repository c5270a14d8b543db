// Shows the images and the calls that run in them, while the page is visible.

import { visible } from '../src/visible.ts';
import { announce, button, byId, duration, element, objectIn, objectsIn, problem } from './dom.ts';
import { look } from './session.ts';

/** Milliseconds between two requests for the state of the images. */
const LOOK_MS = 2000;

/** The state of an image. The values of its members are not checked. */
type Status = { readonly [name: string]: unknown };

/** Keeps the shown state of the images up to date while the page is visible. NAMES returns the names of the images; an
 * empty array when the session has one image. */
export function watchImages(names: () => readonly string[]): void {
  let isLooking = false;
  const show = async () => {
    if (isLooking || document.visibilityState === 'hidden') return;
    isLooking = true;
    const answer = await look('status');
    isLooking = false;
    if ('error' in answer) byId('image-list').replaceChildren(problem(answer.error));
    else showImages(names(), objectIn(answer.data));
  };
  setInterval(() => void show(), LOOK_MS);
  document.addEventListener('visibilitychange', () => void show());
  void show();
}

function showImages(names: readonly string[], data: Status): void {
  const images: [string | undefined, Status][] =
    names.length === 0 ? [[undefined, data]] : names.map((name) => [name, objectIn(data[name])]);
  byId('image-list').replaceChildren(...images.map(([name, status]) => imageElement(name, status)));
  const jobs = images.flatMap(([name, status]) =>
    [...objectsIn(status['jobs']), ...objectsIn(status['beside'])].map((job) => ({ name, job })),
  );
  showJobs(jobs);
}

function imageElement(name: string | undefined, status: Status): HTMLElement {
  const memory = objectIn(status['memory']);
  const threads = objectIn(status['threads']);
  const threadNames = Array.isArray(threads['names']) ? threads['names'].map(String) : [];
  const facts: [string, string | undefined][] = [
    ['State', String(status['state'])],
    ['Why', textIf(status['why'])],
    ['Process', textIf(status['pid'])],
    ['Runs for', status['uptime'] === undefined ? undefined : duration(Number(status['uptime']) * 1000)],
    ['Package', textIf(status['package'])],
    ['Memory of the image', megabytes(memory['imageRss'])],
    ['Memory of the server', megabytes(memory['serverRss'])],
    [
      'Threads',
      threads['count'] === undefined
        ? undefined
        : [`${threads['count']}`, ...threadNames.map((each) => `“${each}”`)].join(', '),
    ],
    ['Sandbox', textIf(status['confinement'])],
  ];
  const rows = facts.flatMap(([fact, value]) =>
    value === undefined ? [] : [element('dt', {}, fact), element('dd', {}, element('bdi', {}, value))],
  );
  const title = name === undefined ? [] : [element('h3', {}, element('bdi', {}, name))];
  return element('div', { class: 'image' }, ...title, heapElement(memory), element('dl', {}, ...rows));
}

function heapElement({ heapUsed, heapSize }: Status): HTMLElement | undefined {
  if (heapUsed === undefined || heapSize === undefined) return undefined;
  const text = `Heap: ${megabytes(heapUsed)} of ${megabytes(heapSize)}`;
  const set = { value: String(heapUsed), max: String(heapSize) };
  return element('label', { class: 'heap' }, text, element('meter', { set }));
}

function textIf(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}

function megabytes(octets: unknown): string | undefined {
  return octets === undefined ? undefined : `${Math.round(Number(octets) / (1024 * 1024))} MB`;
}

interface ImageJob {
  /** The name of the image, if the session has several. */
  name: string | undefined;
  job: Status;
}

/** Maps the image and the number of a shown job to its element. An element is kept while its job runs, so that it does
 * not lose the focus. */
const shown = new Map<string, { row: HTMLElement; show: (job: Status) => void }>();

function showJobs(jobs: readonly ImageJob[]): void {
  const list = byId('running-list');
  const keys = new Set<string>();
  for (const each of jobs) {
    const key = `${each.name ?? ''} ${each.job['job']}`;
    keys.add(key);
    const isNew = !shown.has(key);
    const found = shown.get(key) ?? jobElement(each);
    if (isNew) list.append(found.row);
    found.show(each.job);
    shown.set(key, found);
  }
  for (const [key, { row }] of shown) {
    if (keys.has(key)) continue;
    row.remove();
    shown.delete(key);
  }
  const isNone = shown.size === 0;
  if (isNone && list.childElementCount === 0) list.append(element('p', { class: 'none' }, 'Nothing runs.'));
  if (!isNone) list.querySelector('.none')?.remove();
}

function jobElement({ name, job }: ImageJob) {
  const facts = element('p', {});
  const output = element('pre', {
    class: 'output',
    set: { tabindex: '0', role: 'log', 'aria-live': 'off', 'aria-label': `Output of call ${job['job']}` },
  });
  const frames = element('pre', {});
  const interrupt = button(`Interrupt call ${job['job']}`, () => {
    interrupt.disabled = true;
    failure.textContent = '';
    void interruptJob(Number(job['job']), name).then((why) => {
      interrupt.disabled = false;
      failure.textContent = why;
    });
  });
  const failure = element('p', { class: 'problem', set: { role: 'alert' } });
  const about = element('bdi', {}, String(job['about'] ?? ''));
  const row = element(
    'article',
    { class: 'job' },
    element('h3', {}, `${job['tool']} `, about),
    facts,
    output,
    element('details', {}, element('summary', {}, 'Frames'), frames),
    interrupt,
    failure,
  );
  const show = (now: Status) => {
    const { state, seconds, characters, ending } = now;
    const written = characters ? `, has written ${characters} characters` : '';
    const ends = ending === undefined ? '' : `, is being ended (${ending})`;
    const where = name === undefined ? '' : ` in ${name}`;
    facts.replaceChildren(`Call ${now['job']}${where}: ${state} for ${seconds} s${written}${ends}`);
    showOutput(output, now['output']);
    const texts = Array.isArray(now['frames']) ? now['frames'].map(String) : [];
    frames.replaceChildren(...element('span', {}, texts.join('\n') || 'None are known.').childNodes);
  };
  return { row, show };
}

/** Shows TEXT, the output of a call so far, in AREA. TEXT can be undefined, for example when the call was just writing;
 * then AREA is not changed. AREA scrolls to its end unless the human has scrolled away from the end. */
function showOutput(area: HTMLElement, text: unknown): void {
  const known = visible(String(text ?? '')).trimEnd();
  area.hidden = known === '' && area.textContent === '';
  if (known === '' || area.textContent === known) return;
  const isAtEnd = area.scrollTop + area.clientHeight >= area.scrollHeight - 1;
  area.textContent = known;
  if (isAtEnd) area.scrollTop = area.scrollHeight;
}

/** Interrupts the call JOB. Resolves with '', or with the reason why this failed. */
async function interruptJob(job: number, image: string | undefined): Promise<string> {
  const answer = await look('interrupt', { job, ...(image !== undefined && { image }) });
  if ('error' in answer) return visible(answer.error);
  announce(answer.text);
  return '';
}
