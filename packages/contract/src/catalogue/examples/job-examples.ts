// Examples of the codes that requests for jobs return.

import { type CodeExample, EXAMPLE } from './example.ts'

const JOBS = '/api/v1/jobs'
const create = (nodeId: string) => ({
  method: 'POST' as const,
  path: JOBS,
  body: { kind: 'Job', name: 'migrate', image: EXAMPLE.image, nodeId },
})

export const jobExamples = {
  job_node_not_found: {
    field: 'nodeId',
    fails: create('node_01JD0000000000000000000000'),
    passes: create(EXAMPLE.node),
    given: `The tenant has the node ${EXAMPLE.node}, whose agent is connected.`,
    params: {},
  },
  job_not_found: {
    field: 'id',
    fails: { method: 'GET', path: `${JOBS}/job_01JD0000000000000000000000` },
    passes: { method: 'GET', path: `${JOBS}/${EXAMPLE.job}` },
    given: `The job ${EXAMPLE.job} exists.`,
    params: {},
  },
} satisfies { [code: string]: CodeExample }
