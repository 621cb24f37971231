// The bodies of writes of deployments and jobs as the OpenAPI document describes them. Most fields are optional, because admission
// reports missing fields itself, with their own codes.

import {
  canaryTexts,
  deploymentBodyShape,
  field,
  jobBodyShape,
  newCanaryShape,
  object,
  optional,
  type Shape,
  withOptionalFields,
} from '@holdfast/contract'

const REQUIRED_ON_CREATE: ReadonlySet<string> = new Set(['kind', 'name', 'image'])

const sentFields = (
  fields: { readonly [name: string]: Shape<unknown> },
  required: ReadonlySet<string>,
): Shape<unknown> =>
  object(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        required.has(name) ? withOptionalFields(field) : optional(withOptionalFields(field)),
      ]),
    ),
  )

export const newDeploymentShape = sentFields(deploymentBodyShape.fields, REQUIRED_ON_CREATE)

export const newJobShape = sentFields(jobBodyShape.fields, REQUIRED_ON_CREATE)

/** The body of a change: the server keeps every field that is not sent. */
export const deploymentChangeShape = sentFields(deploymentBodyShape.fields, new Set())

/** The body of a new canary. Its change is described like that of an update. */
export const sentCanaryShape = object({
  ...newCanaryShape.fields,
  change: field(canaryTexts.change, deploymentChangeShape),
})
