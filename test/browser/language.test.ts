/** The page speaks the language of the browser, all of it. */
import { expect, test } from 'vitest';
import { en } from '../../client-demo/src/texts/en.ts';
import { zh } from '../../client-demo/src/texts/zh.ts';
import { violations } from './axe.ts';
import { openHarness } from './harness.ts';

const HAN = /\p{Script=Han}/u;
/** Names, and what is the same in every language. */
const SAME = new Set(['title', 'lang', 'duration', 'quality.rate', 'quality.list', 'chat.said']);

test('every text has a translation in Chinese', () => {
  const english = leavesOf(en);
  const chinese = leavesOf(zh);
  expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
  for (const [path, words] of chinese) {
    if (SAME.has(path)) continue;
    expect(words, path).toMatch(HAN);
    expect(english.get(path), path).not.toMatch(HAN);
  }
});

test.each(['zh-CN', 'zh-TW'])('a whole call is in Chinese: %s', async (locale) => {
  await using harness = await openHarness();
  const ada = await harness.caller({ locale, name: '丽娜' });
  expect(await ada.page.evaluate('document.documentElement.lang')).toBe('zh-Hans');
  await ada.read('凭号码相聚');
  await ada.type('012345');
  await ada.read('房间号码不会以 0 开头');
  await ada.type('');
  const code = await ada.create();
  expect(await ada.page.title()).toBe(`${code} · Signalbox`);
  await ada.read('这里还没有其他人');

  const bob = await harness.caller({ locale, name: '阿明' });
  await bob.type(code);
  await bob.join();
  await ada.read('阿明 加入了');
  await ada.read('2 人在场');
  await bob.say('你好');
  await ada.read('阿明：你好');
  await ada.page.getByRole('button', { name: '聊天，1 条新消息' }).click();
  expect(await violations(ada.page)).toEqual([]);
  await ada.open('people');
  await ada.page.getByRole('button', { name: '移出 阿明' }).click();
  await ada.read('将 阿明 移出房间？');
  await ada.press('移出');
  await bob.read('您已被移出房间');
});

test('a browser in another language gets English', async () => {
  await using harness = await openHarness();
  const ada = await harness.caller({ locale: 'fi-FI' });
  expect(await ada.page.evaluate('document.documentElement.lang')).toBe('en');
  await ada.read('Meet by a code');
});

/** Every text by its path; one that is put together, with something put in. */
function leavesOf(texts: object, path = ''): Map<string, string> {
  return new Map(
    Object.entries(texts).flatMap(([key, value]: [string, unknown]) => {
      const at = path === '' ? key : `${path}.${key}`;
      if (typeof value === 'object' && value !== null) return [...leavesOf(value, at)];
      // Numbers and names alike become part of a sentence.
      return [
        [at, typeof value === 'function' ? String(value(at.endsWith('list') ? ['7'] : 7, 'x', 'y')) : String(value)],
      ];
    }),
  );
}
