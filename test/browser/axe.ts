/** What axe-core finds on a page as it is shown now. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** One line for every rule and element that breaks it; empty when all is well. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`globalThis.axe ?? (() => { ${axe.source} })()`);
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
      id + ' ' + target.join(' ') + ': ' + failureSummary)))`);
}
