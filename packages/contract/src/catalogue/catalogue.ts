// All rejection codes. Codes are public: they are never renamed, removed or reused, and their order is that of the pages.

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

/** The codes by the part of a request that they are about. */
export const CATALOGUE_SECTIONS = {
  deployment: deploymentCodes,
  healthCheck: healthCheckCodes,
  secretSources: secretSourceCodes,
  secretEntries: secretEntryCodes,
  placement: placementCodes,
  volumes: volumeCodes,
  request: requestCodes,
  resources: resourceCodes,
  workload: workloadCodes,
} as const satisfies { readonly [section: string]: CatalogueSection }
export type CatalogueSectionName = keyof typeof CATALOGUE_SECTIONS

/** The codes of the named sections, in order. */
export function codesIn(...sections: readonly CatalogueSectionName[]): Code[] {
  return sections.flatMap((section) => Object.keys(CATALOGUE_SECTIONS[section])).filter(isCode)
}

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
/** Makes a code in two sections a type error. Without it the spread below would silently keep the later one. */
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

/** Every code, in the order of the sections. */
export const CODES: readonly Code[] = Object.keys(CATALOGUE).filter(isCode)

export const entryOf = (code: Code): CatalogueEntry => CATALOGUE[code]
