/** docker-compose.yml as far as it is used: an unknown key is a typing error until it is written down here. */
import { parse } from 'yaml';
import { z } from 'zod';

const duration = z.string().regex(/^\d+(ms|s|m)$/);
const command = z.union([z.string(), z.array(z.string())]);

const healthcheck = z.strictObject({
  test: z.tuple([z.literal('CMD')], z.string()),
  interval: duration,
  timeout: duration,
  retries: z.int().positive(),
});

const network = z.strictObject({ ipv4_address: z.ipv4().optional() });

const service = z.strictObject({
  image: z.string().regex(/^[a-z/]+(:[\w.-]+)?$/),
  build: z.literal('.').optional(),
  pull_policy: z.literal('never').optional(),
  restart: z.literal('unless-stopped'),
  init: z.boolean().optional(),
  stop_grace_period: duration.optional(),
  cap_drop: z.array(z.literal('ALL')).optional(),
  security_opt: z.array(z.literal('no-new-privileges:true')).optional(),
  ulimits: z.strictObject({ nofile: z.int().positive() }).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).default({}),
  // Strings only: YAML would otherwise turn `yes` or 0123 into something else.
  environment: z.record(z.string().regex(/^[A-Z][A-Z_]*$/), z.string()).default({}),
  command: command.optional(),
  entrypoint: command.optional(),
  volumes: z.array(z.string().regex(/^[^:]+:\/[^:]+(:ro)?$/)).default([]),
  ports: z.array(z.string()).default([]),
  networks: z.union([z.array(z.string()), z.record(z.string(), network)]).optional(),
  network_mode: z.literal('host').optional(),
  profiles: z.array(z.string()).optional(),
  healthcheck: healthcheck.optional(),
});

const subnet = z.strictObject({ subnet: z.cidrv4(), ip_range: z.cidrv4() });

const composeFile = z.strictObject({
  name: z.string(),
  'x-node': z.unknown(),
  services: z.record(z.string(), service),
  networks: z.record(
    z.string(),
    z.strictObject({
      internal: z.boolean().optional(),
      ipam: z.strictObject({ config: z.tuple([subnet]) }).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.null()),
});

export type Service = z.infer<typeof service>;
export type ComposeFile = z.infer<typeof composeFile>;

export function readCompose(text: string): ComposeFile {
  return composeFile.parse(parse(text, { merge: true }));
}

/** `${NAME}`, `${NAME:-default}` and `${NAME:?message}` with what follows the name. */
export function variablesOf(text: string): { name: string; rest: string }[] {
  return [...text.matchAll(/(?<!\$)\$\{([A-Z_]+)([^}]*)\}/g)].map(([, name = '', rest = '']) => ({ name, rest }));
}

export function networksOf(service: Service): Record<string, { ipv4_address?: string | undefined }> {
  const { networks = [] } = service;
  return Array.isArray(networks) ? Object.fromEntries(networks.map((name) => [name, {}])) : networks;
}
