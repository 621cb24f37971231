// The bodies of deployment writes as the OpenAPI document describes them. Most fields are optional, because admission
// reports missing fields itself, with their own codes.

import { deploymentBodyShape, object, optional, type Shape, withOptionalFields } from '@holdfast/contract'

const REQUIRED_ON_CREATE: ReadonlySet<string> = new Set(['kind', 'name', 'image'])

const sentFields = (required: ReadonlySet<string>): Shape<unknown> =>
  object(
    Object.fromEntries(
      Object.entries(deploymentBodyShape.fields).map(([name, field]) => [
        name,
        required.has(name) ? withOptionalFields(field) : optional(withOptionalFields(field)),
      ]),
    ),
  )

export const newDeploymentShape = sentFields(REQUIRED_ON_CREATE)

/** The body of a change: the server keeps every field that is not sent. */
export const deploymentChangeShape = sentFields(new Set())
