/** Asks Redis again and again to pass on a message: connections that are open do not show that it does. */
import { ErrorReply } from 'redis';
import { firstWordOf } from '../../redis/refusals.ts';
import type { Clock, Stop } from '../../support/clock.ts';
import type { PublishingClient } from './publications.ts';
import type { SubscribingClient } from './subscriptions.ts';

const EVERY_MS = 1_000;

export interface MessageProbeOptions {
  readonly pub: Pick<PublishingClient, 'isReady' | 'sPublish'>;
  readonly sub: Pick<SubscribingClient, 'isReady' | 'sSubscribe' | 'sUnsubscribe'>;
  /** Of the kind of the channels that are used, so that whoever may use those may use this one. */
  readonly channel: string;
  /** Redis has begun to refuse, with the error, or passes messages on again. */
  readonly onChange: (error: unknown) => void;
  readonly clock: Pick<Clock, 'every'>;
}

export interface MessageProbe {
  /** First word of the reply by which Redis last refused to publish or to subscribe; undefined when it did both. */
  readonly refusal: string | undefined;
  readonly stop: Stop;
}

/** Never more than one under way. A connection that is lost says nothing about what Redis permits. */
export function startMessageProbe({ pub, sub, channel, onChange, clock }: MessageProbeOptions): MessageProbe {
  let refusal: string | undefined;
  let underWay = false;
  const learn = (error: unknown): void => {
    if (error !== undefined && !(error instanceof ErrorReply)) return;
    const before = refusal;
    refusal = error === undefined ? undefined : firstWordOf(error);
    if (refusal !== before) onChange(error);
  };
  const probe = async (): Promise<void> => {
    await sub.sSubscribe(channel, ignore, true);
    // Also after a refused publish: the next probe subscribes again.
    await pub.sPublish(channel, '').finally(() => sub.sUnsubscribe(channel));
  };
  const stop = clock.every(EVERY_MS, () => {
    if (underWay || !pub.isReady || !sub.isReady) return;
    underWay = true;
    void probe()
      .then(() => learn(undefined), learn)
      .finally(() => {
        underWay = false;
      });
  });
  return {
    get refusal() {
      return refusal;
    },
    stop,
  };
}

const ignore = (): void => {};
