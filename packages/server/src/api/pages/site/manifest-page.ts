// The page of the manifest: every field with its meaning, default, range, example and codes.

import { jsonText } from '@holdfast/contract'
import { type DescribedField, exampleDocument, flattenFields } from '@holdfast/core'
import { stringify } from 'yaml'
import { code, type Html, html, joined, link, list } from './html.ts'
import type { SitePage } from './layout.ts'
import type { SearchEntry } from './search.ts'

export function manifestPage(fields: readonly DescribedField[]): SitePage {
  return {
    title: 'Manifest',
    body: html`<h1>Manifest</h1>
<p>The fields of a deployment, as <code>holdfast apply</code> and <a href="/docs/api/createDeployment"><code>POST /api/v1/deployments</code></a> accept them. <code>holdfast explain FIELD</code> prints the same text. Numbers are the limits of this server.</p>
<p>An update keeps every top-level field that is not sent; <code>null</code> clears one. An unknown field is rejected with ${codeLink('field_unknown')}. A duration is a whole number with <code>ms</code>, <code>s</code>, <code>m</code> or <code>h</code>, such as <code>30s</code>.</p>
<h2>Fields</h2>
${tree(fields)}
${flattenFields(fields).map(fieldSection)}`,
  }
}

const codeLink = (name: string): Html => link(`/docs/errors/${name}`, code(name))

const tree = (fields: readonly DescribedField[]): Html =>
  list(
    fields.map(
      (field) =>
        html`<a href="#${field.path}"><code>${field.path.split('.').at(-1)}</code></a> <span class="soft">${field.type}${field.required ? ', required' : ''}</span>${field.fields.length === 0 ? undefined : tree(field.fields)}`,
    ),
  )

function fieldSection(field: DescribedField): Html {
  const { path, type, meaning, range, rejections, example } = field
  const codes = [...new Set(rejections.map((each) => each.code))]
  return html`<section class="entry"><h2 id="${path}"><code>${path}</code></h2>
<p>${meaning}</p>
<dl><dt>Type</dt><dd>${type}</dd>${absence(field)}<dt>Accepted</dt><dd>${range}</dd>
<dt>Rejected with</dt><dd>${joined(codes.map(codeLink), ', ')}</dd></dl>
${example === null ? undefined : html`<pre><code>${stringify(exampleDocument(field)).trimEnd()}</code></pre>`}</section>`
}

function absence({ required, absent, default: value }: DescribedField): Html {
  if (required) return html`<dt>Required</dt><dd>yes</dd>`
  return value === undefined
    ? html`<dt>If absent</dt><dd>${absent}</dd>`
    : html`<dt>Default</dt><dd><code>${jsonText(value)}</code></dd>`
}

export const manifestEntries = (fields: readonly DescribedField[]): SearchEntry[] =>
  flattenFields(fields).map(({ path, meaning }) => ({
    name: path,
    kind: 'Field',
    text: meaning,
    href: `/docs/manifest#${path}`,
  }))
