// Which page explains a record that needs a person?

import type { Attention } from '@holdfast/contract'

type Subject = Attention['subject']

interface SubjectPage {
  readonly to: SubjectRoute
  readonly params: { readonly [name: string]: string }
}

type SubjectRoute =
  | '/t/$tenant/deployments/$name/why'
  | '/t/$tenant/jobs/$job'
  | '/t/$tenant/networks'
  | '/t/$tenant/nodes/$node'
  | '/t/$tenant/access'
  | '/t/$tenant/secrets/$namespace/$resource'
  | '/t/$tenant/volumes/$volume'

/** Returns undefined for a kind that this version does not know. */
export function pageOfSubject({ kind, name, uid }: Subject): SubjectPage | undefined {
  switch (kind) {
    case 'Deployment':
      return { to: '/t/$tenant/deployments/$name/why', params: { name } }
    case 'Job':
      return { to: '/t/$tenant/jobs/$job', params: { job: uid } }
    case 'Network':
      return { to: '/t/$tenant/networks', params: {} }
    case 'Node':
      return { to: '/t/$tenant/nodes/$node', params: { node: uid } }
    case 'Quota':
      return { to: '/t/$tenant/access', params: {} }
    case 'Rotation':
      return { to: '/t/$tenant/secrets/$namespace/$resource', params: partsOf(name) }
    case 'Volume':
      return { to: '/t/$tenant/volumes/$volume', params: { volume: uid } }
    default:
      return undefined
  }
}

/** A credential is named by its namespace and its name, such as `resources/orders-db`. */
function partsOf(path: string): { readonly namespace: string; readonly resource: string } {
  const at = path.indexOf('/')
  return { namespace: path.slice(0, at), resource: path.slice(at + 1) }
}
