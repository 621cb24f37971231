// The meaning of roles, quotas, and of the codes of warnings and alterations.

import type { ALTERATION_CODES, WARNING_CODES } from '../api/rejection.ts'
import type { QuotaKind, Role } from '../api/tenant.ts'
import type { WordText } from './status-texts.ts'

export const ROLE_TEXTS: { readonly [role in Role]: WordText } = {
  viewer: { meaning: 'Reads everything of its tenant except secret keys and logs. Changes nothing.' },
  developer: {
    meaning:
      'Reads like a viewer, writes deployments, reads logs and runs commands in containers. May refer to secrets, but may not write them. A command in a container, such as env, prints the secret values of that container.',
  },
  'secrets-admin': {
    meaning:
      'Reads like a viewer, writes and rotates secrets and registry credentials, and sees key names. It sees no values, because the API returns no secret value to any role. Writes no deployments.',
  },
  'tenant-admin': {
    meaning: 'Everything in its own tenant: deployments, secrets, nodes, join tokens and API tokens.',
  },
  'platform-admin': {
    meaning:
      'Everything a tenant-admin may do, in every tenant, and also tenants, quotas and control-plane nodes.',
  },
}

export const QUOTA_TEXTS: { readonly [kind in QuotaKind]: WordText } = {
  nodes: { meaning: 'How many nodes the tenant may enroll.' },
  deployments: { meaning: 'How many deployments the tenant may have.' },
  containers: { meaning: 'How many containers the tenant may run at once, on all nodes together.' },
  volumes: { meaning: 'How many volumes the tenant may have.' },
  volume_bytes: { meaning: 'The size of all volumes together, each counted with all its copies.' },
  networks: { meaning: 'How many networks the tenant may have.' },
  jobs_running: { meaning: 'How many jobs of the tenant may be pending or running at once.' },
  secrets: { meaning: 'How many secrets the tenant may have.' },
  backups: { meaning: 'How many backups of deployments the tenant may have.' },
  tokens: { meaning: 'How many API tokens that have not expired the tenant may have.' },
  stored_bytes: {
    meaning:
      'The size of the records that the tenant has written, without events, audit entries and other history.',
  },
}

export const WARNING_TEXTS: { readonly [code in (typeof WARNING_CODES)[number]]: WordText } = {
  registry_unreachable: {
    meaning:
      'The registry did not answer, so the image could not be checked. The manifest is stored, and the image is resolved later.',
  },
  secret_keys_dropped: {
    meaning:
      'The new version of the secret lacks keys that the version before had. Containers that need them cannot be created.',
    next: 'Write the secret again with all keys, or add single keys with `holdfast secret set --add`.',
  },
  dependency_elsewhere: {
    meaning:
      'dependsOn names a deployment that may run on other nodes, and its name resolves only on the nodes that run it.',
    next: 'Add the name to placement.affinity, or connect through a route.',
  },
  residency_enforcement_off: {
    meaning: 'The operator switched residency enforcement off, so this deployment is not placed.',
    next: 'Ask the operator.',
  },
  residency_no_match: {
    meaning: 'No reachable node satisfies placement.residency now. The deployment waits until one does.',
    next: 'Compare with the locations that the warning lists.',
  },
  list_shortened: { meaning: 'A list in the response was cut to a limit.' },
  health_check_trivial: {
    meaning: 'The health check always passes, so it proves nothing.',
    next: 'Check something that fails when the program is broken, such as an HTTP request.',
  },
  charset_unsafe_in_template: {
    meaning:
      'A generated value may contain characters that break the template in composedEnvironment, such as / in a URL.',
    next: 'Use the charset alphanumeric or urlsafe, or the encoding hex or base64url.',
  },
  engine_below_floor: {
    meaning: 'The Docker Engine of the node is older than the oldest safe version.',
    next: 'Upgrade the engine.',
  },
  canary_aborted: {
    meaning:
      'The deployment had a canary. It is aborted, and its replicas are removed. If the field is a secret, its version that the canary used stays the newest one.',
    next: 'Start another canary if the change should still be tried.',
  },
  canary_weight_ignored: {
    meaning: 'The deployment has no routes, so the canary receives no share of requests. Its replicas run.',
  },
  volumes_not_promotable_together: {
    meaning:
      'No node holds a copy of each volume that the deployment writes to, so their primary cannot move to another node.',
    next: 'Add replicas of the volumes on one common node.',
  },
  scaling_policy_active: {
    meaning:
      'The deployment has a scaling policy, so the number of replicas in the spec is stored but not used until the policy is deleted.',
    next: 'Change min and max of the policy with `holdfast scaling set`, or delete it with `holdfast scaling delete`.',
  },
  dependents_left: {
    meaning:
      'Other deployments depend on the deleted one. Their replicas keep running, but a replica that is created later waits for it.',
    next: 'Remove the name from dependsOn of those deployments, or create a deployment with that name again.',
  },
  secret_exists: {
    meaning: 'The secret has a version already, so generate created nothing.',
    next: 'Use `holdfast secret set` or `holdfast secret rotate` to change it.',
  },
  external_material_generated: {
    meaning:
      'A value was generated for a secret with the anchor external, so the outside system does not know it yet.',
    next: 'Set anchor to process, or make the outside system accept the value.',
  },
}

export const ALTERATION_TEXTS: { readonly [code in (typeof ALTERATION_CODES)[number]]: WordText } = {
  default_applied: { meaning: 'A field was not sent, and the server filled in its default.' },
  image_digest_resolved: {
    meaning: 'The registry resolved the tag of the image to a digest, and containers are created from it.',
  },
  residency_stored_as_label: { meaning: 'placement.residency is also shown as labels in residencyLabels.' },
  write_time_material_stripped: {
    meaning: 'Secret values were written to the secrets store and removed from the stored manifest.',
  },
  secrets_version_kept: {
    meaning: 'secretsVersion was sent and ignored, because only a rotation changes it.',
  },
  secret_version_pinned: { meaning: 'The deployment now uses this version of the secret.' },
  node_follows_volume: { meaning: 'The replicas run where the volume is.' },
  update_order_stop_first: {
    meaning:
      'The update stops the old container first, although start-first was sent, because two containers cannot run at once.',
  },
  network_node_chosen: { meaning: 'The network is on the only node of the tenant that accepts work.' },
  read_only_ignored: { meaning: 'A field that only the server sets was sent and ignored.' },
}
