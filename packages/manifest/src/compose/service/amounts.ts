// Translates CPU and memory: `deploy.resources`, and the members cpus, mem_limit and mem_reservation of a service.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import { quantityText } from '../../quantities.ts'
import type { Translation } from '../draft.ts'
import { mapOf, visitMembers } from '../members.ts'
import { bytesOf, millisOf } from '../source/scalars.ts'
import { textOf, type Written } from '../source/written.ts'

const DEVICES = ['Containers get no devices of a machine.'] as const
const PIDS = ['Holdfast does not limit the number of processes.'] as const

export function translateResources(translation: Translation, node: Written): void {
  const { report } = translation
  const map = mapOf(report, node)
  if (map === undefined) return
  visitMembers(map, {
    report,
    handlers: {
      limits: (member) => translateBlock(translation, 'limits', member),
      reservations: (member) => translateBlock(translation, 'resources', member),
    },
  })
}

function translateBlock(translation: Translation, block: 'limits' | 'resources', node: Written): void {
  const { report } = translation
  const map = mapOf(report, node)
  if (map === undefined) return
  visitMembers(map, {
    report,
    handlers: {
      cpus: (member) => translateCpus(translation, block, member),
      memory: (member) => translateMemory(translation, block, member),
    },
    refusals: { pids: PIDS, devices: DEVICES, generic_resources: DEVICES },
  })
}

export function translateCpus(translation: Translation, block: 'limits' | 'resources', node: Written) {
  const { report } = translation
  const millis = millisOf(textOf(node))
  if (millis === undefined) return report.refused(node, 'It is not a number of cores.')
  if (millis !== Number(textOf(node)) * 1000)
    report.changed(node, `cpu is ${millis}m`, 'CPU is counted in thousandths of a core, rounded up.')
  setAmount(translation, node, block, 'cpu', quantityText('cpuMillis', millis) ?? String(millis))
}

export function translateMemory(translation: Translation, block: 'limits' | 'resources', node: Written) {
  const { report } = translation
  const bytes = bytesOf(textOf(node))
  if (bytes === undefined) return report.refused(node, 'It is not a size.')
  const text = quantityText('memoryBytes', bytes)
  if (text === undefined) setAmount(translation, node, block, 'memoryBytes', bytes)
  else setAmount(translation, node, block, 'memory', text)
}

/** Sets one amount. Compose has two members for each, and rejects a file in which they differ. */
function setAmount(
  { report, draft: { fields } }: Translation,
  node: Written,
  block: string,
  field: string,
  amount: string | number,
) {
  const before = fields[block]
  const amounts: JsonObject = isJsonObject(before) ? before : {}
  const other = amounts[field]
  if (other !== undefined && other !== amount)
    return report.refused(node, `Another member of the service sets the same amount to ${String(other)}.`)
  fields[block] = { ...amounts, [field]: amount }
}
