# A repository, commits, a branch, a merge, a clone, and its objects packed.
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
# What goes on behind the command's back is nothing that its user would miss.
git config --file gitconfig gc.auto 0
git config --file gitconfig maintenance.auto false
export GIT_CONFIG_GLOBAL="$PWD/gitconfig"
git init --quiet --initial-branch main one
cd one
echo a >a
git add a
git commit --quiet --message a
git checkout --quiet -b other
echo b >b
git add b
git commit --quiet --message b
git checkout --quiet main
echo c >>a
git commit --quiet --all --message c
git merge --quiet --no-edit other >out
git gc --quiet
cd ..
git clone --quiet one two
test "$(git -C two log --oneline | wc -l)" = 4
git -C two diff --quiet HEAD
