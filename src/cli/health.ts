/** `signalbox health`: asks the server that the same options would start whether it is alive, for health checks of containers. */
import { request } from 'node:http';
import { isIPv6 } from 'node:net';
import { OPTIONS, OptionError, type PartialOptions } from '../server/options/options.ts';
import { readListenHost } from '../support/ip-address.ts';

export interface HealthQuestion {
  /** Ready to accept clients, instead of alive. */
  readonly ready: boolean;
  readonly timeoutMs: number;
}

/** More than an answer has: whatever else answers on the port is not read to its end. */
const MAX_BYTES = 64 * 1024;

/**
 * @param given `host` and `port`; everything else is ignored.
 * @returns the address that has answered.
 * @throws OptionError when no address follows from the options; an Error when no address says that all is well.
 */
export async function askHealth({ host, port }: PartialOptions, question: HealthQuestion): Promise<string> {
  const read = OPTIONS.port.schema.safeParse(port);
  if (!read.success) throw new OptionError('port', read.error.issues[0]?.message ?? 'malformed');
  if (read.data === 0) throw new OptionError('port', '0 selects a free port, which nobody else knows');
  const asked = addressesOf(host ?? OPTIONS.host.schema.parse(undefined)).map((address) =>
    ask(address, read.data, question),
  );
  try {
    return await Promise.any(asked);
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map((one: Error) => one.message) : [String(error)];
    throw new Error(reasons.join('; '), { cause: error });
  }
}

/** "All addresses" is nothing to connect to: then the loopback address answers, of IPv6 or of IPv4, or of both. */
function addressesOf(host: string): readonly string[] {
  const read = readListenHost(host);
  const address = 'value' in read ? read.value : host;
  if (/^0+(\.0+){0,3}$/.test(address)) return ['127.0.0.1'];
  return address === '::' ? ['127.0.0.1', '::1'] : [address];
}

function ask(host: string, port: number, { ready, timeoutMs }: HealthQuestion): Promise<string> {
  const path = ready ? '/readyz' : '/healthz';
  const url = `http://${isIPv6(host) ? `[${host}]` : host}:${port}${path}`;
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`${url} ${reason}`));
    // Without an agent of the process: a proxy of the environment has no way to this machine.
    const asking = request({ host, port, path, agent: false, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
        if (body.length > MAX_BYTES) asking.destroy(new Error('answered more than a health check does'));
      });
      response.on('error', (error) => fail(reasonOf(error, timeoutMs)));
      response.on('end', () => {
        if (response.statusCode !== 200) fail(`answered ${response.statusCode}`);
        else if (!saysOk(body)) fail('was answered by another program');
        else resolve(url);
      });
    });
    asking.on('error', (error) => fail(reasonOf(error, timeoutMs)));
    asking.end();
  });
}

const reasonOf = (error: Error, timeoutMs: number): string =>
  error.name === 'AbortError' || error.name === 'TimeoutError'
    ? `did not answer within ${timeoutMs} ms`
    : `did not answer (${error.message || String(Reflect.get(error, 'code'))})`;

function saysOk(body: string): boolean {
  try {
    return Object(JSON.parse(body)).ok === true;
  } catch {
    return false;
  }
}
