/** What axe-core finds on a page as it is shown now. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * One line for every rule and element that breaks it; empty when all is well.
 *
 * @param rules all of them, if none is named.
 */
export async function violations(page: Page, ...rules: string[]): Promise<string[]> {
  await page.evaluate(`globalThis.axe ?? (() => { ${axe.source} })()`);
  const options = { resultTypes: ['violations'], ...(rules.length > 0 && { runOnly: rules }) };
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
      id + ' ' + target.join(' ') + ': ' + failureSummary)))`);
}
