/** Numbers that never repeat, for whatever a back end needs them for. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { itemTypesWith, readItemTypes } from '../../../reference/item-types.ts';
import type { IssueContext, ReferenceGenerator } from '../../../reference/port.ts';
import type { ServerContext } from '../../context.ts';
import { refuse } from '../../replies.ts';
import { done, type Operation, type OperationResult, operation } from './operation.ts';
import { shown } from './schemas.ts';

const MOST = 1_000_000;
/** So many are drawn and written at a time: a few milliseconds of work, and what waits for a slow reader. */
const AT_ONCE = 10_000;

const printable = z.string().regex(/^[\x20-\x7e]{1,128}$/, '1 to 128 printable ASCII characters');

const asking = z.strictObject({
  count: z.int().min(1).max(MOST).register(shown, { description: 'How many; one unless given.' }).exactOptional(),
  traceId: printable
    .clone()
    .register(shown, { description: 'For the log of this server; the request’s id unless given.' })
    .exactOptional(),
  name: printable.clone().register(shown, { description: 'What they are for, for that log.' }).exactOptional(),
});

const issued = z.object({ references: z.array(z.string()) });

export function referenceOperations({ references, options }: ServerContext): Operation[] {
  const types = itemTypesWith(readItemTypes(options.itemTypes));
  const issuing = operation({
    id: 'issueReferences',
    method: 'POST',
    path: '/references/{type}',
    scope: 'write',
    tag: 'references',
    summary: 'Issue references',
    about:
      `References of one item type that have never been given and never will be again, 1 to ${MOST} at a time. Many of ` +
      'them are written while they are drawn: an answer that is cut off has issued some that nobody will use.',
    params: z.object({ type: z.string().max(32).register(shown, { description: 'Such as `order`.' }) }),
    body: asking,
    answer: {
      statuses: { 200: 'They are yours.' },
      body: issued,
      example: { references: ['ORD202600000042', 'ORD202600000043'] },
    },
    problems: ['NOT_FOUND', 'NOT_CONFIGURED', 'REFERENCE_UNAVAILABLE'],
    example: { params: { type: 'order' }, body: { count: 2, name: 'checkout' } },
    async run({ params: { type }, body: { count = 1, traceId, name }, token, requestId, note }) {
      if (!Object.hasOwn(types, type)) return refuse('NOT_FOUND', { message: 'No item type has this name.' });
      const draw = references.generateMany?.bind(references);
      if (draw === undefined) {
        return refuse('NOT_CONFIGURED', { message: 'This server has no ledger to count references in.' });
      }
      note({ itemType: type });
      return issue(draw, type, count, { traceId: traceId ?? requestId, name: name ?? `api:${token.name}` });
    },
  });
  return [issuing];
}

type Draw = NonNullable<ReferenceGenerator['generateMany']>;

async function issue(
  draw: Draw,
  type: string,
  count: number,
  about: IssueContext,
): Promise<OperationResult<z.output<typeof issued>>> {
  // Before anything is answered: whether there are any is said by the status.
  const first = await draw(type, Math.min(count, AT_ONCE), about);
  if (count <= AT_ONCE) return done(200, { references: first });
  const rest = async function* () {
    yield `{"references":[${textOf(first)}`;
    for (let left = count - AT_ONCE; left > 0; left -= AT_ONCE) {
      // Numbers that are held in memory are there at once: without a pause, nobody else would be answered meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
      yield `,${textOf(await draw(type, Math.min(left, AT_ONCE), about))}`;
    }
    yield ']}';
  };
  return {
    ok: true,
    status: 200,
    stream: { type: 'application/json; charset=utf-8', content: Readable.from(rest(), { highWaterMark: 1 }) },
  };
}

const textOf = (references: readonly string[]): string => JSON.stringify(references).slice(1, -1);
