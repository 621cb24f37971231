// The code catalogue, whole: SPEC 7 and DECISIONS 3, in the order of those documents. A code is public for ever.

import { deploymentCodes } from './deployment.ts'
import type { CatalogueEntry, CatalogueSection } from './entry.ts'
import { healthCheckCodes } from './health-check.ts'
import { placementCodes } from './placement.ts'
import { requestCodes } from './request.ts'
import { resourceCodes } from './resources.ts'
import { secretEntryCodes } from './secret-entries.ts'
import { secretSourceCodes } from './secret-sources.ts'
import { volumeCodes } from './volumes.ts'
import { workloadCodes } from './workload.ts'

type Sections = [
  typeof deploymentCodes,
  typeof healthCheckCodes,
  typeof secretSourceCodes,
  typeof secretEntryCodes,
  typeof placementCodes,
  typeof volumeCodes,
  typeof requestCodes,
  typeof resourceCodes,
  typeof workloadCodes,
]
type KeyOfAny<S> = S extends unknown ? keyof S : never
type CodeInTwo<S> = S extends [infer First, ...infer Rest]
  ? (keyof First & KeyOfAny<Rest[number]>) | CodeInTwo<Rest>
  : never
/** A spread would let the later of two equal codes win without a word; here it is a type error that names the code. */
type Disjoint = [CodeInTwo<Sections>] extends [never]
  ? CatalogueSection
  : { readonly codeInTwo: CodeInTwo<Sections> }

export const CATALOGUE = {
  ...deploymentCodes,
  ...healthCheckCodes,
  ...secretSourceCodes,
  ...secretEntryCodes,
  ...placementCodes,
  ...volumeCodes,
  ...requestCodes,
  ...resourceCodes,
  ...workloadCodes,
} satisfies Disjoint

export type Code = keyof typeof CATALOGUE

export const isCode = (text: string): text is Code => Object.hasOwn(CATALOGUE, text)

/** Every code, in the order of the documents. */
export const CODES: readonly Code[] = Object.keys(CATALOGUE).filter(isCode)

export const entryOf = (code: Code): CatalogueEntry => CATALOGUE[code]
