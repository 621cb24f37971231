// The starter manifest of `holdfast init` and of the dashboard: the required fields, and the optional fields as comments.

/** `schemaPath`: the file of the JSON Schema, for editors with YAML support; absent if there is none. */
export function manifestTemplate(name: string, image: string, schemaPath?: string): string {
  const schema = schemaPath === undefined ? '' : `# yaml-language-server: $schema=${schemaPath}\n`
  return `${schema}kind: Deployment
# Lowercase letters, digits and hyphens. It is also the DNS name of the replicas, for this tenant's containers on the
# same node only: names do not reach other nodes yet.
name: ${name}
# A pinned reference: a tag other than latest, or a digest.
image: ${image}
replicas: 1

# Runs inside the container. A replica is ready when the check first passes.
# healthCheck:
#   type: exec
#   command: ["wget", "-q", "-O", "-", "http://127.0.0.1:8080/healthz"]
#   interval: 30s
#   timeout: 10s
#   retries: 3

# Constants only. Credentials are rejected here; use secrets.
# environment:
#   LOG_LEVEL: info

# Credentials from the secrets store: each key is delivered as the variable DB_<key>.
# secrets:
#   - name: DB
#     vault_path: deployments/${name}
# Variables composed from secrets when a container is created.
# composedEnvironment:
#   DATABASE_URL: postgres://app:{{secret.${name}.password}}@database:5432/app

# Placement uses the requests; the container engine enforces the limits.
# resources:
#   cpu: 250m
#   memory: 256Mi
# limits:
#   memory: 512Mi

# Nodes that may run it. All constraints must match. Regions: holdfast get regions.
# placement:
#   residency:
#     region: eu
#   constraints:
#     - label: disk
#       operator: in
#       values: [ssd]
#   antiAffinity: [${name}]
#   # Only nodes that run a replica of each, so that its name resolves there.
#   affinity: [database]

# Starts only when these deployments are healthy (or started). Does not place them together; use placement.affinity.
# dependsOn:
#   database: healthy

# Public host and path; the port is that of the container.
# routes:
#   - host: ${name}.example.com
#     path: /
#     port: 8080

# Update strategy; these are the defaults.
# update:
#   order: start-first
#   parallelism: 1
#   failureAction: rollback
#   progressDeadline: 300s
`
}
