/** What the common servers of repositories send on a push, the plain form of it, and which repository they mean. */
import { z } from "zod";

const Text = z.string().max(2_048).optional();
const Addresses = { clone_url: Text, ssh_url: Text, git_http_url: Text, git_ssh_url: Text, url: Text };

export const Push = z.looseObject({
  name: Text,
  url: Text,
  repository: z
    .looseObject({
      ...Addresses,
      html_url: Text,
      slug: Text,
      project: z.looseObject({ key: Text }).optional(),
      links: z
        .looseObject({
          html: z.looseObject({ href: Text }).optional().catch(undefined),
          clone: z
            .array(z.looseObject({ href: Text }))
            .max(16)
            .optional()
            .catch(undefined),
        })
        .optional()
        .catch(undefined),
    })
    .nullish(),
  project: z.looseObject({ git_http_url: Text, git_ssh_url: Text }).nullish(),
});

/** A repository as somebody outside names it. Any address of several that is known will do. */
export interface PushedRepository {
  readonly name?: string;
  readonly urls?: readonly string[];
  /** `project/slug`, where a server does not tell its own address. */
  readonly path?: string;
}

export function pushedOf({ name, url, repository, project }: z.output<typeof Push>): PushedRepository {
  const { links, slug, project: owner } = repository ?? {};
  const told = [
    url,
    repository?.clone_url,
    repository?.ssh_url,
    repository?.git_http_url,
    repository?.git_ssh_url,
    repository?.html_url,
    repository?.url,
    project?.git_http_url,
    project?.git_ssh_url,
    links?.html?.href,
    ...(links?.clone ?? []).map(({ href }) => href),
  ];
  const urls = [...new Set(told.filter((each) => each !== undefined))];
  if (urls.length > 0) return { urls };
  if (owner?.key !== undefined && slug !== undefined) return { path: `${owner.key}/${slug}` };
  return name === undefined ? {} : { name };
}

/** Headers that say what happened, by server. */
export const EVENTS = [
  "x-github-event",
  "x-gitea-event",
  "x-forgejo-event",
  "x-gogs-event",
  "x-gitlab-event",
  "x-event-key",
] as const;

/** Events after which there may be other commits or branches than before. What a server calls otherwise is heard and left. */
const NEWS = /push|create|delete|refs_changed|synchronized|system hook/i;

/** What happened, when that is no news of commits: a server that tries the way, or tells of something else. */
export function otherEventOf(headers: Readonly<Record<string, string>>): string | undefined {
  const event = EVENTS.map((name) => headers[name]).find((value) => value !== undefined);
  return event === undefined || NEWS.test(event) ? undefined : event.slice(0, 64);
}
