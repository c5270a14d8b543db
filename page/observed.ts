// Shows the session's last profile, recorded calls and runs of tests, each when the human asks for it.

import { announce, byId, element, problem } from './dom.ts';
import { request } from './session.ts';

/** The elements that show a part, and a line about it for screen readers. */
interface Rendered {
  heading: string;
  elements: readonly HTMLElement[];
}

/** Sets what a click on the button `${part}-show` does: it requests what the session's tools have recorded last, and
 * shows one kind of these records, such as the profile, in the element `${part}-text`. RENDER returns the elements to
 * show; undefined when there is no such record. Then the text NONE is shown. */
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
