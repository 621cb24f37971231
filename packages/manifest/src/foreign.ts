// Recognizes files of other systems, so that one sentence explains them instead of a rejection for each field.

import { isJsonObject, type Json } from '@holdfast/contract'

export interface ForeignFormat {
  /** Kind of the document, such as "a Kubernetes Deployment". */
  readonly what: string
  /** The key by which the document was recognized. */
  readonly key: string
  /** The next step for the user. */
  readonly next: string
}

const KIND = /^[A-Za-z]{1,60}$/

export function foreignFormat(value: Json): ForeignFormat | undefined {
  if (!isJsonObject(value)) return undefined
  const { apiVersion, kind, services } = value
  if (typeof apiVersion === 'string' && typeof kind === 'string') {
    const name = KIND.test(kind) ? kind : 'object'
    return { what: `a Kubernetes ${name}`, key: 'apiVersion', next: 'holdfast init writes an example' }
  }
  if (isJsonObject(services) && kind === undefined)
    return { what: 'a Compose file', key: 'services', next: 'holdfast import compose FILE translates it' }
  return undefined
}

/** The only message about a document of another system, without a period, so that a caller can add where to read on. */
export const foreignSentence = ({ what }: ForeignFormat): string =>
  `This is ${what}, and Holdfast has its own form: one document per deployment, with kind: Deployment, name and image at the top level, and optional fields such as replicas, environment, healthCheck and routes`
