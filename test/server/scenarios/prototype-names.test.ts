import { ADMIN } from '../http/api/api-client.ts';
import { prototypeNames } from './prototype-names.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('names of prototypes', {
  options: { adminToken: ADMIN, apiPerMinute: 100_000 },
  dependencies: {
    hooks: {
      authenticate: ({ token }) => {
        if (token?.startsWith('{') !== true) return token === undefined ? undefined : { userId: token };
        return { metadata: JSON.parse(token) };
      },
    },
  },
  scenarios: prototypeNames,
});
