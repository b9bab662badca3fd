/** The operation that issues references: numbers that never repeat. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { itemTypesWith, readItemTypes } from '../../../reference/item-types.ts';
import type { IssueContext, ReferenceGenerator } from '../../../reference/port.ts';
import { type Clock, turn } from '../../../support/clock.ts';
import type { ServerContext } from '../../context.ts';
import { refuse } from '../../replies.ts';
import { type InputOf, type Operation, type OperationResult, operation, operationSpec, respond } from './operation.ts';
import { schemaDocs } from './schemas.ts';

export function referenceOperations({ references, options, clock }: ServerContext): Operation[] {
  const types = new Set(Object.keys(itemTypesWith(readItemTypes(options.itemTypes))));
  const issueMany = references.generateMany?.bind(references);
  return [operation(ISSUE_REFERENCES, (input) => runIssueReferences({ types, issueMany, clock }, input))];
}

const MAX_COUNT = 1_000_000;
/** References drawn and written at a time: a few milliseconds of work, and the memory of a slow reader. */
const BATCH = 10_000;

interface ReferenceDeps {
  readonly types: ReadonlySet<string>;
  /** Absent without a ledger. */
  readonly issueMany: IssueMany | undefined;
  readonly clock: Clock;
}

type IssueMany = NonNullable<ReferenceGenerator['generateMany']>;

const printable = z.string().regex(/^[\x20-\x7e]{1,128}$/, '1 to 128 printable ASCII characters');

const issueBody = z.strictObject({
  count: z
    .int()
    .min(1)
    .max(MAX_COUNT)
    .register(schemaDocs, { description: 'Number of references. Default: 1.' })
    .exactOptional(),
  traceId: printable
    .clone()
    .register(schemaDocs, { description: 'Trace id for the log of this server. Default: the request id.' })
    .exactOptional(),
  name: printable
    .clone()
    .register(schemaDocs, { description: 'Purpose of the references, for the log of this server.' })
    .exactOptional(),
});

const issuedReferences = z.object({ references: z.array(z.string()) });

const ISSUE_REFERENCES = operationSpec({
  id: 'issueReferences',
  method: 'POST',
  path: '/references/{type}',
  scope: 'write',
  tag: 'references',
  summary: 'Issue references',
  description:
    `Issues 1 to ${MAX_COUNT} references of one item type. A reference is never issued twice. Large responses are ` +
    'streamed while references are drawn: if one is cut off, the references already drawn stay unused.',
  params: z.object({
    type: z.string().max(32).register(schemaDocs, { description: 'Item type, such as `order`.' }),
  }),
  body: issueBody,
  response: {
    statuses: { 200: 'The references.' },
    body: issuedReferences,
    example: { references: ['ORD202600000042', 'ORD202600000043'] },
  },
  problems: ['NOT_FOUND', 'NOT_CONFIGURED', 'REFERENCE_UNAVAILABLE'],
  example: { params: { type: 'order' }, body: { count: 2, name: 'checkout' } },
});

async function runIssueReferences(
  { types, issueMany, clock }: ReferenceDeps,
  { params: { type }, body, token, requestId, setSubject }: InputOf<typeof ISSUE_REFERENCES>,
) {
  if (!types.has(type)) return refuse('NOT_FOUND', { message: 'No item type has this name.' });
  if (issueMany === undefined)
    return refuse('NOT_CONFIGURED', { message: 'This server has no ledger for references.' });
  setSubject({ itemType: type });
  const { count = 1, traceId = requestId, name = `api:${token.name}` } = body;
  const drawBatch = (size: number) => issueMany(type, size, { traceId, name } satisfies IssueContext);
  return issue(drawBatch, count, clock);
}

async function issue(
  drawBatch: (size: number) => Promise<readonly string[]>,
  count: number,
  clock: Clock,
): Promise<OperationResult<z.output<typeof issuedReferences>>> {
  // Before the response begins, so that its status can still report a failure.
  const first = await drawBatch(Math.min(count, BATCH));
  if (count <= BATCH) return respond(200, { references: [...first] });
  const rest = async function* () {
    yield `{"references":[${elementsOf(first)}`;
    for (let left = count - BATCH; left > 0; left -= BATCH) {
      // Buffered numbers resolve at once: without this pause, the loop would starve all other requests.
      await turn(clock);
      yield `,${elementsOf(await drawBatch(Math.min(left, BATCH)))}`;
    }
    yield ']}';
  };
  return {
    ok: true,
    status: 200,
    stream: { type: 'application/json; charset=utf-8', content: Readable.from(rest(), { highWaterMark: 1 }) },
  };
}

/** The elements of a JSON array, without its brackets. */
const elementsOf = (references: readonly string[]): string => JSON.stringify(references).slice(1, -1);
