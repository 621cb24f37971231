// Refuses every node to deployments with residency demands while the configuration switches enforcement off, because the
// demands could not be guaranteed. Running replicas stay where they are.

import type { Filter } from '../refusal.ts'

export const residencyEnforcement: Filter = {
  name: 'residency_enforcement',
  retryOn: ['deployment'],
  phrases: { residency_enforcement_off: 'blocked because residency is not enforced' },
  reportsRecordFact: true,
  cacheKey: ({ residency }) => [residency?.enforced],
  nodeKey: () => undefined,
  refuse: ({ residency }) =>
    residency === undefined || residency.enforced
      ? undefined
      : {
          code: 'residency_enforcement_off',
          required: { enforcement: true },
          reported: { enforcement: false },
        },
}
