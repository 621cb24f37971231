// The pages of the schemas: each record, body and response with its fields.

import { describeShape, type ShapeNode } from '@holdfast/contract'
import { namedShapes, schemaNameOf } from '../open-api-names.ts'
import { code, type Html, html, joined, link, list, withCode } from './html.ts'
import type { SitePage } from './layout.ts'
import type { SearchEntry } from './search.ts'

const hrefOf = (name: string): string => `/docs/schemas/${name}`

export function schemaIndexPage(): SitePage {
  return {
    title: 'Schemas',
    body: html`<h1>Schemas</h1>
<p>The records, request bodies and responses of the API, under the names that the <a href="/openapi.json">OpenAPI document</a> gives to them.</p>
${list([...namedShapes().keys()].map((name) => link(hrefOf(name), code(name))))}`,
  }
}

export function schemaPage(name: string): SitePage | undefined {
  const shape = namedShapes().get(name)
  if (shape === undefined) return undefined
  return {
    title: name,
    body: html`<h1><code>${name}</code></h1>
${shape.description === undefined ? undefined : html`<p>${withCode(shape.description)}</p>`}
<h2>Fields</h2>
${fieldList(shape)}`,
  }
}

export const schemaEntries = (): SearchEntry[] =>
  [...namedShapes()].map(([name, shape]) => ({
    name,
    kind: 'Schema',
    text: shape.kind === 'object' ? Object.keys(shape.fields).join(', ') : '',
    href: hrefOf(name),
  }))

/** The fields of an object with type and description; fields of an object without a name follow their parent. */
export function fieldList(shape: ShapeNode, parent = ''): Html {
  const inner = bare(shape)
  if (inner.kind === 'list') return fieldList(inner.element, `${parent}[]`)
  if (inner.kind === 'map') return fieldList(inner.value, `${parent}.<key>`)
  if (inner.kind !== 'object') return html`<p>${typeOf(inner)}</p>`
  return html`${Object.entries(inner.fields).map(([name, field]) => fieldEntry(name, field, parent))}`
}

function fieldEntry(name: string, field: ShapeNode, parent: string): Html {
  const path = parent === '' ? name : `${parent}.${name}`
  const description = descriptionOf(field)
  return html`<div class="entry">
<h3 id="${path}"><code>${path}</code></h3>
<p class="soft">${typeOf(field)}${field.kind === 'optional' ? ', optional' : ''}</p>
${description === undefined ? undefined : html`<p>${withCode(description)}</p>`}
</div>
${hasOwnFields(field) ? fieldList(field, path) : undefined}`
}

function descriptionOf(shape: ShapeNode): string | undefined {
  if (shape.description !== undefined) return shape.description
  return shape.kind === 'optional' || shape.kind === 'nullable' ? descriptionOf(shape.inner) : undefined
}

function bare(shape: ShapeNode): ShapeNode {
  return shape.kind === 'optional' || shape.kind === 'nullable' ? bare(shape.inner) : shape
}

function hasOwnFields(shape: ShapeNode): boolean {
  const inner = bare(shape)
  if (schemaNameOf(inner) !== undefined) return false
  if (inner.kind === 'list') return hasOwnFields(inner.element)
  return inner.kind === 'map' ? hasOwnFields(inner.value) : inner.kind === 'object'
}

/** The type of a shape in words, with a link to each schema that has a page. */
export function typeOf(shape: ShapeNode): Html {
  const name = schemaNameOf(shape)
  if (name !== undefined) return link(hrefOf(name), code(name))
  switch (shape.kind) {
    case 'optional':
      return typeOf(shape.inner)
    case 'nullable':
      return html`${typeOf(shape.inner)} or null`
    case 'list':
      return html`list of ${typeOf(shape.element)}`
    case 'map':
      return html`object, each value ${typeOf(shape.value)}`
    case 'object':
      return html`object`
    case 'string':
      return shape.values === undefined ? html`string` : html`one of ${joined(shape.values.map(code), ', ')}`
    default:
      return html`${describeShape(shape).split(':')[0]}`
  }
}
