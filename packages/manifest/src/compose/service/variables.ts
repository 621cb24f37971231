// Puts the variables of a service into the manifest: constants into environment, credentials into references to secrets.
// No value of a credential is written or reported.

import type { JsonObject } from '@holdfast/contract'
import { isCredential } from '../credentials.ts'
import type { Translation } from '../draft.ts'
import type { PlannedSecrets, SecretsOfService } from '../resources/secrets.ts'
import type { WrittenScalar } from '../source/written.ts'
import type { Variable } from './environment.ts'

export interface VariableParts {
  readonly variables: readonly Variable[]
  readonly secrets: PlannedSecrets
  /** The names of deployments that differ from the names of their services, by service. */
  readonly renamed: ReadonlyMap<string, string>
}

const WHY = 'It is or may be a credential, and manifests contain references to credentials only.'
const NO_VALUE = 'It has no value here, so Compose does not set it.'
const UNSET = 'It has no value here, and Compose replaces it by nothing.'
const UNSET_NEXT = 'Set it before the import, or use --env-file.'
const NO_FILES = 'Secrets are delivered as variables, not as files.'

export function translateVariables(
  translation: Translation,
  own: SecretsOfService,
  parts: VariableParts,
): void {
  const { report, draft, credentials } = translation
  const environment: JsonObject = {}
  const composed: JsonObject = {}
  for (const { key, value } of parts.variables) {
    report.carried(value)
    const file = own.ofFile(key, value.text)
    if (file !== undefined && parts.variables.some((other) => other.key === file.variable))
      report.refused(value, `It names the file of a secret, and ${file.variable} is set, too.`)
    else if (file !== undefined) {
      composed[file.variable] = file.template
      const next = `Check that the image reads ${file.variable}.`
      report.changed(value, `${file.variable} has the value instead`, NO_FILES, next)
    } else if (isCredential(key, value) || credentials.isIn(value.text ?? ''))
      composed[key] = referTo(translation, key, value, parts.secrets)
    else if (value.text === null) report.refused(value, NO_VALUE, UNSET_NEXT)
    else {
      environment[key] = value.text
      reportConstant(translation, value, value.text, parts.renamed)
    }
  }
  if (Object.keys(environment).length > 0) draft.fields.environment = environment
  if (Object.keys(composed).length > 0) draft.fields.composedEnvironment = composed
}

/** Plans the secret of a credential, and returns the template that refers to it. */
function referTo(
  { report, draft }: Translation,
  key: string,
  value: WrittenScalar,
  secrets: PlannedSecrets,
): string {
  const { path, template, sameAs } = secrets.addKey(draft.name, key, identityOf(value))
  const also = sameAs === undefined ? '' : ` It has the same value as ${sameAs}.`
  report.changed(
    value,
    `${key} is a reference to ${path}`,
    `${WHY}${also}`,
    `Write the secret: see the command for ${path}.`,
  )
  return template
}

/** Values are equal if their texts are, or if they come from the same variables without a value. */
const identityOf = ({ text, variables }: WrittenScalar): string => `${variables.join()}=${text ?? ''}`

const RENAMED = 'The deployment of that service has another name, and containers reach it by that name.'

function reportConstant(
  { report, credentials }: Translation,
  value: WrittenScalar,
  text: string,
  renamed: VariableParts['renamed'],
): void {
  for (const name of value.unset)
    report.changed(value, `${credentials.shown(name)} is empty`, UNSET, UNSET_NEXT)
  const words = text.split(/[^A-Za-z0-9._-]+/)
  for (const [service, name] of renamed)
    if (words.includes(service))
      report.changed(
        value,
        `it still names ${credentials.shown(service)}`,
        RENAMED,
        `Use ${name} if it is a host.`,
      )
}
