// Checks the body of a new network, reports all faults at once, and fills in the defaults.

import {
  type Alteration,
  decode,
  isJsonObject,
  type Json,
  type JsonObject,
  type NetworkOptions,
  networkOptionsShape,
  networkTexts,
  newNetworkShape,
  type Rejection,
  type TenantId,
} from '@holdfast/contract'
import { type AdmissionContext, admissionContext } from '../admission/context.ts'
import { compileRules } from '../admission/rule-engine/compile-rules.ts'
import { addFault, newFaultList } from '../admission/rule-engine/fault-list.ts'
import { accepted } from '../admission/rule-engine/rule.ts'
import { walkFields } from '../admission/rule-engine/walk.ts'
import { reject } from '../reject.ts'
import { networkRules } from './network-rules.ts'

const FIELDS = compileRules(newNetworkShape, networkRules)
const KNOWN: ReadonlySet<string> = new Set(Object.keys(newNetworkShape.fields))
const OPTIONS = accepted('only name, driver, labels, internal and nodeId')

export interface SentNetwork {
  readonly options: NetworkOptions
  /** The node that the request names; undefined if it names none. */
  readonly nodeId: string | undefined
  readonly alterations: readonly Alteration[]
}

type Checked =
  | { readonly ok: true; readonly value: SentNetwork }
  | { readonly ok: false; readonly rejections: readonly Rejection[] }

export function checkNetwork(
  body: Json,
  tenant: TenantId,
  given: Pick<AdmissionContext, 'limits' | 'reservedNames'>,
): Checked {
  if (!isJsonObject(body))
    return { ok: false, rejections: [reject('field_type_invalid', '', body, { accepted: 'an object' })] }
  const reservedNames = new Set([...given.reservedNames, nameOfTenantNetwork(tenant)])
  const context = admissionContext({ ...given, reservedNames })
  const faults = newFaultList(context.limits.rejections)
  for (const [key, value] of Object.entries(body))
    if (!KNOWN.has(key)) addFault(faults, 'network_option_unsupported_on_agent', [key], value, OPTIONS)
  walkFields(FIELDS, body, context, faults)
  const { rejections } = faults
  return rejections.length > 0 ? { ok: false, rejections } : { ok: true, value: withDefaults(body) }
}

/**
 * The name by which a network would get the same name on the engine as the network that all other containers of the
 * tenant share: the id of the tenant without its first part.
 */
const nameOfTenantNetwork = (tenant: TenantId): string => tenant.slice(tenant.indexOf('-') + 1)

const DEFAULTS = {
  driver: networkTexts.driver.default,
  labels: networkTexts.labels.default,
  internal: networkTexts.internal.default,
} as const

function withDefaults(body: JsonObject): SentNetwork {
  const { nodeId = null, ...sent } = Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null),
  )
  const filled = Object.entries(DEFAULTS).filter(([field]) => sent[field] === undefined)
  return {
    options: decode(networkOptionsShape, { ...DEFAULTS, ...sent }),
    nodeId: typeof nodeId === 'string' ? nodeId : undefined,
    alterations: filled.map(([field, to]) => ({
      code: 'default_applied',
      field,
      from: null,
      to,
      why: 'The field was absent.',
    })),
  }
}
