// Names the parts of a container template that an update changes, in the words of a deployment's spec. Values are never
// included.

import { type ContainerTemplate, canonicalJson, type Json } from '@holdfast/contract'

/** The members whose change recreates no container, and `runs`, which only jobs have. */
type OtherMember = 'name' | 'stopGracePeriod' | 'runs'

/** The names of the parts, by member of the template. A new member does not compile without a name. */
const PARTS: { readonly [member in Exclude<keyof ContainerTemplate, OtherMember>]-?: string } = {
  image: 'image',
  command: 'command',
  args: 'args',
  environment: 'environment',
  secrets: 'secrets',
  composedEnvironment: 'composedEnvironment',
  healthCheck: 'healthCheck',
  limits: 'limits',
  labels: 'labels',
  mounts: 'volumes',
  networks: 'networks',
}

export function changedParts(old: ContainerTemplate, current: ContainerTemplate): string[] {
  const [before, after] = [comparedMembers(old), comparedMembers(current)]
  return Object.entries(PARTS)
    .filter(([member]) => canonicalJson(before[member] ?? null) !== canonicalJson(after[member] ?? null))
    .map(([, part]) => part)
}

/** The size of a tmpfs is that of its volume; a resized volume recreates no container. */
const comparedMembers = ({
  mounts,
  ...template
}: ContainerTemplate): { readonly [member: string]: Json } => ({
  ...template,
  mounts: mounts?.map(({ sizeBytes: _, ...mount }) => mount) ?? null,
})
