/** What users of the browser see of back ends: the documentation of the API, and messages to a room. */
import { expect, test } from 'vitest';
import { ADMIN, createApiClient } from '../server/http/api/api-client.ts';
import { openHarness } from './harness.ts';

test('the API documentation is shown under the content security policy of the server, and can call the API', async () => {
  await using harness = await openHarness({ adminToken: ADMIN });
  await using reader = await harness.person('docs');
  const { page } = reader;
  await page.getByText('Create a room').waitFor();
  await page.locator('#operations-pool-readPool').click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  const answer = page.waitForResponse((response) => response.url().endsWith('/v1/pool'));
  await page.getByRole('button', { name: 'Execute' }).click();
  expect((await answer).status()).toBe(401);
  await page.locator('.btn.authorize').first().click();
  await page.locator('.auth-container input').fill(ADMIN);
  await page.locator('.auth-btn-wrapper .authorize').click();
  const granted = page.waitForResponse((response) => response.url().endsWith('/v1/pool'));
  await page.locator('.btn-done').click();
  await page.getByRole('button', { name: 'Execute' }).click();
  expect((await granted).status()).toBe(200);
  // A browser says of every 401 that a resource was not loaded.
  expect(reader.complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
});

test('a message from a back end is a line of the chat, from the server', async () => {
  await using harness = await openHarness({ adminToken: ADMIN });
  const ada = await harness.caller({ name: 'Ada' });
  const code = (await ada.create()).replaceAll(/\s/g, '');
  const backEnd = createApiClient(harness.server.url);
  await backEnd.expectStatus(202, 'POST', `/rooms/${code}/messages`, {
    data: { text: 'This room closes in five minutes.' },
  });
  await ada.tells('This room closes in five minutes.');
  await backEnd.expectStatus(202, 'POST', `/rooms/${code}/messages`, { data: 'Good bye.' });
  await ada.tells('Good bye.');
  expect(await ada.page.locator('.chat-line').allTextContents()).toEqual([
    'ServerThis room closes in five minutes.',
    'ServerGood bye.',
  ]);
});
