// Shows the session's last profile, recorded calls and runs of tests, each when the human asks for it.

import { announce, byId, element, problem } from './dom.ts';
import { request } from './session.ts';

/** The elements that show a part, and a line about it for screen readers. */
interface Rendered {
  heading: string;
  elements: readonly HTMLElement[];
}

/** Makes the button PART-show request the observations of the session, and show a part of them in the element
 * PART-text. RENDER returns this part; undefined when there is none. The text NONE is shown then. */
export function watchObserved<Observed>(
  part: string,
  none: string,
  render: (observed: Observed) => Rendered | undefined,
): void {
  const show = async () => {
    const shown = render(await request<Observed>('observed'));
    byId(`${part}-text`).replaceChildren(...(shown?.elements ?? [element('p', {}, none)]));
    announce(shown?.heading ?? none);
  };
  byId(`${part}-show`).addEventListener('click', () => {
    void show().catch((error: Error) => byId(`${part}-text`).replaceChildren(problem(error.message)));
  });
}
