// Decides whether a service becomes a deployment at all. A service that is refused has one finding, and its other members
// are not judged.

import { parseImageReference } from '@holdfast/core/admission'
import type { KnownCredentials } from '../credentials.ts'
import type { Report } from '../report.ts'
import { isEmpty, memberOf, textOf, type Written, type WrittenMap } from '../source/written.ts'
import { hasCredential } from './command.ts'

type Fault = readonly [at: Written, why: string, next?: string]

const JOBS = 'The service runs once and ends, and a deployment is always started again.'

/** The service as a map; undefined if it is refused. */
export function judgeService(
  report: Report,
  credentials: KnownCredentials,
  node: Written,
): WrittenMap | undefined {
  if (node.kind !== 'map') {
    report.refused(node, 'It is not a map.')
    return undefined
  }
  const fault = faultOf(node) ?? imageFault(credentials, node) ?? commandFault(credentials, node)
  if (fault === undefined) return node
  const [at, why, next] = fault
  report.refused(at, `${why} The service is left out.`, next)
  return undefined
}

function faultOf(node: WrittenMap): Fault | undefined {
  const [extended, profiles, provider, network] = ['extends', 'profiles', 'provider', 'network_mode'].map(
    (key) => memberOf(node, key),
  )
  if (extended !== undefined)
    return [extended, 'Its other members are in another service.', 'Write them here, and remove extends.']
  if (
    profiles !== undefined &&
    !isEmpty(profiles) &&
    !(profiles.kind === 'list' && profiles.items.length === 0)
  )
    return [profiles, 'Compose starts it with a profile only.', 'Remove profiles to import it.']
  if (provider !== undefined) return [provider, 'It is no container.', 'Use what the provider offers.']
  if (network !== undefined && textOf(network) === 'none')
    return [
      network,
      'It has no network in Compose, and every container of Holdfast has one.',
      'Remove network_mode if it may have a network.',
    ]
  const mode = memberOf(memberOf(node, 'deploy'), 'mode')
  if (mode !== undefined && /-job$/.test(textOf(mode) ?? '')) return [mode, JOBS]
  return undefined
}

const PIN = 'Write a tag other than latest, or a digest.'

function imageFault(credentials: KnownCredentials, node: WrittenMap): Fault | undefined {
  const image = memberOf(node, 'image')
  const build = memberOf(node, 'build')
  if (image === undefined || isEmpty(image))
    return build === undefined
      ? [node, 'It has no image.', 'Add one.']
      : [build, 'Holdfast builds no images.', 'Build and push the image, and name it in image.']
  const text = textOf(image) ?? ''
  const [name] = image.kind === 'scalar' ? image.unset : []
  if (name !== undefined)
    return [
      image,
      `The variable ${credentials.shown(name)} of its image is not set.`,
      'Set it before the import, or use --env-file.',
    ]
  const reference = credentials.isIn(text) ? undefined : parseImageReference(text)
  if (reference === undefined) return [image, 'It is no image reference.', 'Write it as registry/name:tag.']
  if (reference.tag === 'latest') return [image, 'The tag latest is not pinned: its content changes.', PIN]
  if (reference.tag === undefined && reference.digest === undefined)
    return [image, 'An image without a tag means latest, which is not pinned.', PIN]
  return undefined
}

const CREDENTIAL = 'It contains a credential, and commands are stored and shown in plain text.'
const CREDENTIAL_NEXT = 'Read the credential from a variable or a file in the container, and import again.'

/** A command without its credential would run another way, such as a database without a password. */
function commandFault(credentials: KnownCredentials, node: WrittenMap): Fault | undefined {
  const commands = ['entrypoint', 'command'].flatMap((key) => memberOf(node, key) ?? [])
  const found = commands.find((command) => hasCredential(credentials, command))
  return found === undefined ? undefined : [found, CREDENTIAL, CREDENTIAL_NEXT]
}
