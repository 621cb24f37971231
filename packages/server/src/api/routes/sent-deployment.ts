// The bodies of deployment writes as the OpenAPI document describes them. Most fields are optional, because admission
// reports missing fields itself, with their own codes.

import { deploymentBodyShape, object, optional, type Shape } from '@holdfast/contract'

const REQUIRED_ON_CREATE: ReadonlySet<string> = new Set(['kind', 'name', 'image'])

const sentFields = (required: ReadonlySet<string>): Shape<unknown> =>
  object(
    Object.fromEntries(
      Object.entries(deploymentBodyShape.fields).map(([name, field]) => [
        name,
        required.has(name) ? loosen(field) : optional(loosen(field)),
      ]),
    ),
  )

/** Returns a copy of `shape` in which all fields of all objects are optional. */
function loosen(shape: Shape<unknown>): Shape<unknown> {
  if (shape.kind === 'optional') return optional(loosen(shape.inner))
  if (shape.kind === 'list') return { ...shape, element: loosen(shape.element) }
  if (shape.kind !== 'object') return shape
  const fields = Object.entries(shape.fields).map(([name, field]) => [name, optional(loosen(field))])
  return { ...shape, fields: Object.fromEntries(fields) }
}

export const newDeploymentShape = sentFields(REQUIRED_ON_CREATE)

/** The body of a change: the server keeps every field that is not sent. */
export const deploymentChangeShape = sentFields(new Set())
