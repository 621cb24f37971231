// Bodies as the OpenAPI document shows them. What a client sends has the fields of the stored spec, nearly all optional;
// what is really refused is decided by the rules, with their codes.

import { deploymentBodyShape, object, optional, type Shape } from '@holdfast/contract'

const REQUIRED_ON_CREATE: ReadonlySet<string> = new Set(['kind', 'name', 'image'])

/** Every object of the shape with all its fields optional, at every depth. */
function loosen(shape: Shape<unknown>): Shape<unknown> {
  if (shape.kind === 'optional') return optional(loosen(shape.inner))
  if (shape.kind === 'list') return { ...shape, element: loosen(shape.element) }
  if (shape.kind !== 'object') return shape
  return object(
    Object.fromEntries(Object.entries(shape.fields).map(([name, field]) => [name, optional(loosen(field))])),
  )
}

export const sentDeploymentShape: Shape<unknown> = object(
  Object.fromEntries(
    Object.entries(deploymentBodyShape.fields).map(([name, field]) => [
      name,
      REQUIRED_ON_CREATE.has(name) ? loosen(field) : optional(loosen(field)),
    ]),
  ),
)
