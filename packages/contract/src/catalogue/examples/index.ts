// All examples, by code. tests/real/api/catalogue.test.ts requires one for every code that a request can cause.

import type { Code } from '../catalogue.ts'
import type { CodeExample } from './example.ts'
import { jobExamples } from './job-examples.ts'
import { manifestExamples } from './manifest-examples.ts'
import { networkExamples } from './network-examples.ts'
import { recommendationExamples } from './recommendation-examples.ts'
import { requestExamples } from './request-examples.ts'
import { scalingExamples } from './scaling-examples.ts'
import { secretExamples } from './secret-examples.ts'
import { volumeExamples } from './volume-examples.ts'

export { type CodeExample, EXAMPLE, type ExampleRequest } from './example.ts'

const EXAMPLES: { readonly [code in Code]?: CodeExample } = {
  ...manifestExamples,
  ...secretExamples,
  ...requestExamples,
  ...volumeExamples,
  ...recommendationExamples,
  ...networkExamples,
  ...jobExamples,
  ...scalingExamples,
}

/** The example of a code; undefined for codes that no request can cause. */
export const exampleOf = (code: Code): CodeExample | undefined => EXAMPLES[code]
