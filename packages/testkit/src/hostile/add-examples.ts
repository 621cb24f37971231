// Adds examples that this platform accepts to the OpenAPI document. With these examples schemathesis also receives
// successful responses; with random names and images every request would be rejected.

export interface OpenApiDocument {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
}
interface Operation {
  parameters?: { name: string; in: string; example?: unknown }[]
  requestBody?: { content: { [type: string]: { example?: unknown } } }
}

export interface Examples {
  /** Parameter values for one operation (`GET /path`) or for all operations (`*`). */
  readonly parameters: { readonly [operation: string]: { readonly [name: string]: string } }
  readonly bodies: { readonly [operation: string]: unknown }
}

export function addExamples(document: OpenApiDocument, { parameters, bodies }: Examples): OpenApiDocument {
  const added = structuredClone(document)
  for (const [path, operations] of Object.entries(added.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const key = `${method.toUpperCase()} ${path}`
      const values = { ...parameters['*'], ...parameters[key] }
      for (const parameter of operation.parameters ?? []) {
        const value = values[parameter.name]
        if (value !== undefined) parameter.example = value
      }
      const content = operation.requestBody?.content['application/json']
      if (content !== undefined && bodies[key] !== undefined) content.example = bodies[key]
    }
  }
  return added
}
