// Examples of the codes that requests for scaling policies return.

import type { CodeExample } from './example.ts'

const policyOf = (deployment: string): string => `/api/v1/deployments/${deployment}/scaling`
const set = (parts: { readonly [field: string]: string | number }) => ({
  method: 'PUT' as const,
  path: policyOf('orders'),
  body: { min: 2, max: 10, metric: 'cpu', targetPercent: 60, ...parts },
})

export const scalingExamples = {
  scaling_policy_invalid: {
    field: 'min',
    fails: set({ min: 12 }),
    passes: set({}),
    given: 'The deployment orders requests CPU.',
    params: { accepted: 'a whole number from 1 to 10, which is max' },
  },
  scaling_policy_not_found: {
    field: 'name',
    fails: { method: 'GET', path: policyOf('orders') },
    passes: { method: 'GET', path: policyOf('payments') },
    given: 'The deployment payments has a scaling policy, and orders has none.',
    params: {},
  },
} satisfies { [code: string]: CodeExample }
